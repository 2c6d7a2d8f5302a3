package cmd

import (
	"context"

	"bot/queue"
	"bot/queue/collect"
)

// waiting returns the articles of a source whose pages were not there yet. If the
// source's server asked to be left alone, so are they.
func (f *fleet) waiting(ctx context.Context, r collect.Result, p collect.Progress) ([]queue.Waiting, error) {
	all, err := f.waitingAt(ctx, r.Source, p)
	for i := range all {
		if r.Next.NotBefore.After(all[i].NotBefore) {
			all[i].NotBefore = r.Next.NotBefore
		}
	}
	return all, err
}

// waitingAt returns what waits of a source, without a look where nothing can.
func (f *fleet) waitingAt(ctx context.Context, source string, p collect.Progress) ([]queue.Waiting, error) {
	if !f.mayWait(source, p) {
		return nil, nil
	}
	return f.queue.Waiting(ctx, source)
}

func (f *fleet) mayWait(source string, p collect.Progress) bool {
	return p.Waiting || f.queue.IsReady(source)
}

// waitingOf returns what waits of one source.
func waitingOf(source string, all []queue.Waiting) []queue.Waiting {
	var own []queue.Waiting
	for _, w := range all {
		if w.Article.Source == source {
			own = append(own, w)
		}
	}
	return own
}

// waitingReport is one article that waits for its page, in JSON.
type waitingReport struct {
	Source    string   `json:"source"`
	URL       string   `json:"url"`
	Title     string   `json:"title"`
	Reason    string   `json:"reason"`
	Since     jsonTime `json:"since"`
	NotBefore jsonTime `json:"not_before"`
}

func newWaitingReport(w queue.Waiting) waitingReport {
	return waitingReport{w.Article.Source, w.Article.URL, w.Article.Title, w.Reason, jsonTime(w.Since), jsonTime(w.NotBefore)}
}
