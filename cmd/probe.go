package cmd

import (
	"cmp"
	"context"
	"errors"

	"bot/poster"
	"bot/queue"
)

// runProbe asks the platforms of uncertain entries what became of them.
func (a *app) runProbe(ctx context.Context, f *fleet, ids []string) error {
	type probed struct {
		ID     string       `json:"id"`
		URL    string       `json:"url,omitempty"`
		Status queue.Status `json:"status,omitempty"`
		Answer string       `json:"answer,omitempty"`
		Error  string       `json:"error,omitempty"`
	}
	list, failed := make([]probed, 0, len(ids)), 0
	for _, id := range ids {
		e, err := find(ctx, f.queue.Store, id)
		presence := poster.CannotTell
		if err == nil {
			e, presence, err = f.queue.Ask(ctx, e)
		}
		_, said := errors.AsType[*poster.Error](err)
		switch {
		case err == nil:
			list = append(list, probed{ID: e.ID, URL: e.Article.URL, Status: e.Status, Answer: answers[presence]})
			a.printf("%-11s %s  %s  %s  %s\n", e.Status, e.ID, cmp.Or(f.nameOf(e), "-"), e.Article.URL, answers[presence])
		case said, mistaken(err), errors.Is(err, queue.ErrCannotAsk):
			failed++
			list = append(list, probed{ID: id, Error: err.Error()})
			a.log.Error(err.Error())
		default:
			return err
		}
	}
	if err := a.printJSON(struct {
		Command string   `json:"command"`
		Entries []probed `json:"entries"`
	}{"resolve", list}); err != nil {
		return err
	}
	switch failed {
	case 0:
		return nil
	case len(list):
		return outcome(exitFailed)
	default:
		return outcome(exitPartly)
	}
}

// answers are what a platform can say of a post.
var answers = map[poster.Presence]string{
	poster.CannotTell: "it cannot tell",
	poster.Absent:     "it does not have it",
	poster.Found:      "it has it",
}
