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
	var found, whole []queue.Batch
	failed := false
	for _, res := range results {
		r.Sources = append(r.Sources, newSourceReport(res))
		failed = failed || res.Err != nil
		all := queue.Batch{Source: res.Source, Articles: res.Articles}
		if all.Waiting, err = f.queue.Waiting(ctx, res.Source); err != nil {
			return err
		}
		one := f.listed(all, url)
		if one == nil {
			continue
		}
		p, err := queue.ReadBook[collect.Progress](ctx, f.queue.Store, queue.SourceBook(res.Source))
		if err != nil {
			return err
		}
		all.Seen = p.Seen
		found = append(found, queue.Batch{Source: all.Source, Articles: []queue.Article{*one}, Seen: all.Seen})
		whole = append(whole, all)
	}
	if r.Destinations, err = f.queue.Explain(ctx, url, found, whole); err != nil {
		return err
	}
	a.printExplained(r)
	if err := a.printJSON(r); err != nil {
		return err
	}
	return finish(ctx, failed, false)
}

// listed returns the article at an address if a source lists it, or nil.
func (f *fleet) listed(b queue.Batch, url string) *queue.Article {
	site := f.queue.SiteOf(b.Source)
	articles := queue.Identified(b.Articles, site)
	for _, w := range b.Waiting {
		articles = append(articles, w.Article)
	}
	want, bad := site.Canonical(url)
	for i, article := range articles {
		canonical, err := site.Canonical(article.URL)
		// What has no canonical address, and so is refused, may be listed all the same.
		if err == nil && bad == nil && canonical == want || err != nil && article.URL == url {
			return &articles[i]
		}
	}
	return nil
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
