package webhook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"bot/poster"
)

// success is what the receiver answers when it has an announcement. The zero value:
// any 2xx.
type success struct {
	// statuses are the only ones that say so. Nil: all 2xx.
	statuses []int
	// contains is what the answer has to hold. Empty: anything.
	contains string
	// duplicates are statuses by which it says that it had the announcement before.
	duplicates []int
}

// successOf reads the rule.
func successOf(s poster.Settings, set settings) (success, error) {
	var errs []error
	check := func(key string, statuses []int, least int) {
		for _, status := range statuses {
			if status < least || status > 499 {
				errs = append(errs, s.Errorf(key, "%s: %d is no status for it; want one from %d to 499", key, status, least))
			}
		}
		if statuses != nil && len(statuses) == 0 {
			errs = append(errs, s.Errorf(key, "%s is empty; leave it out", key))
		}
	}
	check("success_status", set.SuccessStatus, 200)
	check("duplicate_status", set.DuplicateStatus, 400)
	for _, status := range set.SuccessStatus {
		if status > 299 {
			errs = append(errs, s.Errorf("success_status", "success_status: %d is no success; name 2xx", status))
		}
	}
	return success{set.SuccessStatus, set.SuccessContains, set.DuplicateStatus}, errors.Join(errs...)
}

// judge tells how the attempt with this answer ended. A 2xx that the rule does not
// know may have been published: it is no answer of the receiver's own.
func (w *webhook) judge(r poster.Response) error {
	rule := w.success
	if slices.Contains(rule.duplicates, r.Status) {
		return nil
	}
	if err := w.client.Classify(r); err != nil {
		return err
	}
	switch {
	case rule.statuses != nil && !slices.Contains(rule.statuses, r.Status):
		return w.client.Fail(poster.Unknown, r, fmt.Sprintf("it answers %d, which success_status does not name", r.Status), "")
	case !r.Torn && !strings.Contains(string(r.Body), rule.contains):
		return w.client.Fail(poster.Unknown, r, "its answer does not hold what success_contains says", "")
	}
	return nil
}
