package collect

import (
	"bot/dedupe"
	"bot/queue"
)

// stripped drops the source's own tracking parameters from the addresses of its
// articles, and keeps what was listed beside each that had any.
func (s Source) stripped(articles []queue.Article) []queue.Article {
	if len(s.StripParams) == 0 {
		return articles
	}
	for i := range articles {
		a := &articles[i]
		if url := dedupe.StripTracking(a.URL, s.StripParams); url != a.URL {
			a.URL, a.Listed = url, a.URL
		}
	}
	return articles
}
