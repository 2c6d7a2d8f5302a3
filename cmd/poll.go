package cmd

import (
	"context"
	"slices"

	"bot/queue/collect"
)

// poll reads the named sources (nil: all), side by side, and returns what each
// holds, in the config's order. fresh reads them whole, whatever was read before. read
// is called with each that could be read, one after the other.
func (a *app) poll(ctx context.Context, f *fleet, names []string, progress map[string]collect.Progress, fresh bool, read func(*collect.Result)) ([]collect.Result, error) {
	sources := slices.DeleteFunc(slices.Clone(f.sources), func(s collect.Source) bool {
		return len(names) > 0 && !slices.Contains(names, s.Name)
	})
	results := make([]collect.Result, 0, len(sources))
	bar := a.progress("sources", len(sources))
	c := a.collector()
	c.Fresh = fresh
	c.Collect(ctx, sources, progress, func(r collect.Result) {
		bar.step(r.Source)
		results = append(results, r)
		if ctx.Err() != nil {
			return
		}
		if r.Err != nil {
			a.log.Warn("source failed", "source", r.Source, "error", r.Err)
		} else {
			a.log.Debug("source read", "source", r.Source, "status", r.Status, "articles", r.Listed, "dropped", r.Dropped)
			if r.Listed == 0 && r.Dropped > 0 {
				a.log.Warn("no item of the source has the address of a page", "source", r.Source, "items", r.Dropped)
			}
			read(&results[len(results)-1])
		}
	})
	bar.done()
	order := make(map[string]int, len(f.sources))
	for i, s := range f.sources {
		order[s.Name] = i
	}
	slices.SortFunc(results, func(x, y collect.Result) int { return order[x.Source] - order[y.Source] })
	return results, ctx.Err()
}

// pollFresh reads the named sources whole.
func (a *app) pollFresh(ctx context.Context, f *fleet, names []string) ([]collect.Result, error) {
	return a.poll(ctx, f, names, nil, true, func(*collect.Result) {})
}

// sourceReport is one source in JSON.
type sourceReport struct {
	Name      string `json:"name"`
	Status    string `json:"status"`
	Collected int    `json:"collected"`
	Error     string `json:"error"`
}

func newSourceReport(r collect.Result) sourceReport {
	s := sourceReport{Name: r.Source, Status: string(r.Status), Collected: r.Listed}
	if r.Err != nil {
		s.Error = r.Err.Error()
	}
	return s
}
