package cmd

import (
	"context"

	"bot/queue"
	"bot/queue/collect"
)

// siftedAtOnce is how many articles are sifted together: what a run over many sources
// holds at a time of those that were decided on before. Each time the history may be
// read once, so a small run is not sifted at all.
const siftedAtOnce = 1000

// sifter takes out of what the sources hold what was decided on before, while the
// others are still being read.
type sifter struct {
	f        *fleet
	o        queue.AddOptions
	progress map[string]collect.Progress
	// read are the sources that were not sifted yet, with so many articles.
	read     []*collect.Result
	articles int
	// sifted counts what was taken out.
	sifted queue.Added
	err    error
}

// take adds a source that was read, unless it is at first sight, so that nothing is
// decided yet, or its articles wait for their pages.
func (s *sifter) take(ctx context.Context, r *collect.Result) {
	p := s.progress[r.Source]
	if s.err != nil || len(p.Seen) == 0 || s.f.mayWait(r.Source, p) {
		return
	}
	s.read = append(s.read, r)
	if s.articles += r.Listed; s.articles >= siftedAtOnce {
		s.err = s.sift(ctx)
		s.read, s.articles = nil, 0
	}
}

func (s *sifter) sift(ctx context.Context) error {
	batches := make([]queue.Batch, len(s.read))
	for i, r := range s.read {
		batches[i] = queue.Batch{Source: r.Source, Articles: r.Articles}
	}
	sifted, err := s.f.queue.Sift(ctx, batches, s.o)
	if err != nil {
		return err
	}
	s.sifted.Count(sifted)
	for i, r := range s.read {
		r.Articles = batches[i].Articles
	}
	return nil
}
