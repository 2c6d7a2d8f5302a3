package cmd

import (
	"context"
	"slices"

	"bot/poster"
	"bot/queue"

	"github.com/spf13/cobra"
)

// previewOptions are the flags of preview.
type previewOptions struct {
	enqueueOptions
	newest int
}

func newPreviewCmd(a *app) *cobra.Command {
	o := previewOptions{newest: 1}
	c := &cobra.Command{
		Use:   "preview",
		Short: "Show what the newest articles would look like on each destination",
		Long:  "Show what the newest articles of each source would look like on each destination, with lengths and limits.\nNothing is queued or sent, and the ledger is not looked at.",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return a.runPreview(c.Context(), o) },
	}
	c.Flags().StringSliceVar(&o.sources, "source", nil, "only of the source with this `NAME`; may be repeated")
	c.Flags().StringSliceVar(&o.to, "to", nil, "only for the destination with this `NAME`; may be repeated")
	c.Flags().IntVarP(&o.newest, "newest", "n", o.newest, "the newest `N` articles of each source")
	return c
}

// previewReport is the result of preview in JSON.
type previewReport struct {
	Command string         `json:"command"`
	Sources []sourceReport `json:"sources"`
	Posts   []postPreview  `json:"posts"`
}

type postPreview struct {
	Source      string `json:"source"`
	Rule        string `json:"rule"`
	Destination string `json:"destination"`
	URL         string `json:"url"`
	Text        string `json:"text"`
	Length      int    `json:"length"`
	// Limit is the platform's. Zero: none.
	Limit int    `json:"limit"`
	Error string `json:"error,omitempty"`
}

func (a *app) runPreview(ctx context.Context, o previewOptions) error {
	f, err := a.fleet()
	if err != nil {
		return err
	}
	if o.newest < 1 {
		return usagef("--newest: want a number of articles, not %d", o.newest)
	}
	if err := o.check(f); err != nil {
		return err
	}
	results, err := a.pollFresh(ctx, f, o.sources)
	if err != nil {
		return err
	}
	for _, d := range f.queue.Destinations {
		if learner, ok := d.Poster.(poster.Learner); ok && (len(o.to) == 0 || slices.Contains(o.to, d.Name)) {
			learner.Learn(ctx)
		}
	}
	r := &previewReport{Command: "preview", Sources: []sourceReport{}, Posts: []postPreview{}}
	failed := false
	for _, res := range results {
		r.Sources = append(r.Sources, newSourceReport(res))
		failed = failed || res.Err != nil
		articles := slices.Clone(res.Articles)
		slices.SortStableFunc(articles, func(x, y queue.Article) int { return y.Published.Compare(x.Published) })
		articles = articles[:min(o.newest, len(articles))]
		slices.Reverse(articles) // the newest is shown first
		b := queue.Batch{Source: res.Source, Articles: articles}
		for _, d := range f.queue.Matches(b, o.to) {
			p := f.preview(d.Entry)
			failed = failed || p.Error != ""
			r.Posts = append(r.Posts, p)
		}
	}
	a.printPreview(r)
	if err := a.printJSON(r); err != nil {
		return err
	}
	return finish(ctx, failed, false)
}

// preview makes what would be sent.
func (f *fleet) preview(e queue.Entry) postPreview {
	d := f.queue.DestinationOf(e.Key.Webhook)
	p := postPreview{Source: e.Article.Source, Rule: e.Rule, Destination: e.Destination, URL: e.Article.URL}
	if d == nil {
		p.Error = "the address cannot be announced"
		return p
	}
	limit := d.Poster.Traits().Limit
	p.Limit = limit.Max
	m, err := f.queue.Render(e, d)
	if err != nil {
		p.Error = err.Error()
		return p
	}
	p.Text, p.Length = m.Text, limit.Count(m.Text)
	return p
}

func (a *app) printPreview(r *previewReport) {
	for _, s := range r.Sources {
		if s.Error != "" {
			a.printf("error  %s: %s\n\n", s.Name, s.Error)
		}
	}
	for _, p := range r.Posts {
		a.printf("%s → %s  %s\n", p.Source, p.Destination, p.URL)
		switch {
		case p.Error != "":
			a.printf("  cannot be sent: %s\n\n", p.Error)
		case p.Limit > 0:
			a.printf("%s\n  length %d of %d\n\n", indent(p.Text), p.Length, p.Limit)
		default:
			a.printf("%s\n  length %d, no limit\n\n", indent(p.Text), p.Length)
		}
	}
	a.printf("%d %s\n", len(r.Posts), plural(len(r.Posts), "preview", "previews"))
}
