package cmd

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"bot/config"
	"bot/queue"
)

// slots reads a destination's slots. What is wrong with one is reported at its
// place in the config.
func (f *fleet) slots(d config.Destination) (*queue.Slots, error) {
	specs := make([]string, 0, len(d.Slots))
	var problems []error
	for _, s := range d.Slots {
		if _, err := queue.ParseSlot(s.Value, f.cfg.Timezone); err != nil {
			problems = append(problems, s.Errorf("slots: %v", err))
		}
		specs = append(specs, s.Value)
	}
	if err := config.Join(problems...); err != nil {
		return nil, err
	}
	return queue.ParseSlots(specs, f.cfg.Timezone)
}

// checkServe reads the schedules of the daemon, so that every command finds what is
// wrong with them.
func (f *fleet) checkServe() error {
	var problems []error
	for key, text := range map[string]config.Text{"enqueue": f.cfg.Serve.Enqueue, "process": f.cfg.Serve.Process} {
		if _, err := queue.ParseSchedule(text.Value, f.cfg.Timezone); err != nil {
			problems = append(problems, text.Errorf("%s: %v", key, err))
		}
	}
	return config.Join(problems...)
}

// meaning returns a fingerprint of what a rule says, but for whether it is live.
func meaning(r queue.Rule, text string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %v %v %v %q %q", r.From, r.To, filterText(r.Match), filterText(r.Exclude), r.Cadence, r.Per, text)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func filterText(f queue.Filter) string {
	title, url := "", ""
	if f.Title != nil {
		title = f.Title.String()
	}
	if f.URL != nil {
		url = f.URL.String()
	}
	return fmt.Sprintf("%q %q %q", title, url, f.Categories)
}

// mode is live or shadow.
func mode(r queue.Rule) string {
	if r.Shadow {
		return "shadow"
	}
	return "live"
}

// editedNote says that a rule means something else than it did before. Empty: it
// does not. A shadow rule's record was then made by another rule.
func editedNote(r queue.Rule, e queue.Edited, zone *time.Location) string {
	switch {
	case e.Meaning != "" && e.Meaning != r.Meaning:
		return "edited since the last run"
	case e.Edited():
		return "edited: it means what it does since " + when(e.Since, zone)
	default:
		return ""
	}
}
