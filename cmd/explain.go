package cmd

import (
	"context"

	"bot/dedupe"
	"bot/queue"
	"bot/queue/collect"

	"github.com/spf13/cobra"
)

func newExplainCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "explain URL",
		Short: "Say why an article was, was not or will be announced",
		Long:  "Say for every destination which gates the article at this address passes, in order, and where it ends.\nThe sources are read, and nothing is changed.",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.reading(c.Context(), func(ctx context.Context, f *fleet) error { return a.explain(ctx, f, args[0]) })
		},
	}
}

// explainReport is the result of explain in JSON.
type explainReport struct {
	Command      string              `json:"command"`
	URL          string              `json:"url"`
	Sources      []sourceReport      `json:"sources"`
	Destinations []queue.Explanation `json:"destinations"`
}

func (a *app) explain(ctx context.Context, f *fleet, url string) error {
	results, err := a.pollFresh(ctx, f, nil)
	if err != nil {
		return err
	}
	r := &explainReport{Command: "explain", URL: dedupe.StripTracking(url, nil), Sources: []sourceReport{}}
	var found []queue.Batch
	failed := false
	for _, res := range results {
		r.Sources = append(r.Sources, newSourceReport(res))
		failed = failed || res.Err != nil
		b, err := f.listed(ctx, res, url)
		if err != nil {
			return err
		}
		if b != nil {
			found = append(found, *b)
		}
	}
	if r.Destinations, err = f.queue.Explain(ctx, url, found); err != nil {
		return err
	}
	a.printExplained(r)
	if err := a.printJSON(r); err != nil {
		return err
	}
	return finish(ctx, failed, false)
}

// listed returns the article at an address if a source lists it, or nil.
func (f *fleet) listed(ctx context.Context, res collect.Result, url string) (*queue.Batch, error) {
	site := f.queue.SiteOf(res.Source)
	want, err := site.Canonical(url)
	if err != nil {
		return nil, nil //nolint:nilerr // an address that is none is listed nowhere
	}
	waiting, err := f.queue.Waiting(ctx, res.Source)
	if err != nil {
		return nil, err
	}
	articles := queue.Identified(res.Articles, site)
	for _, w := range waiting {
		articles = append(articles, w.Article)
	}
	for _, article := range articles {
		if canonical, err := site.Canonical(article.URL); err == nil && canonical == want {
			p, err := queue.ReadBook[collect.Progress](ctx, f.queue.Store, queue.SourceBook(res.Source))
			if err != nil {
				return nil, err
			}
			return &queue.Batch{Source: res.Source, Articles: []queue.Article{article}, Seen: p.Seen}, nil
		}
	}
	return nil, nil
}

func (a *app) printExplained(r *explainReport) {
	for _, s := range r.Sources {
		if s.Error != "" {
			a.printf("source %s could not be read, so this may not be the whole truth: %s\n", s.Name, s.Error)
		}
	}
	for _, x := range r.Destinations {
		a.printf("%s: %s\n", x.Destination, x.Conclusion)
		for _, g := range x.Gates {
			mark := "pass"
			if !g.Passes {
				mark = "stop"
			}
			a.printf("  %s  %-11s %s\n", mark, g.Name, g.Detail)
		}
	}
}
