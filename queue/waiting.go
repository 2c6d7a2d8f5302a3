package queue

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"bot/dedupe"
)

// WaitingBook names the small record of a source's articles whose pages are not there
// yet.
func WaitingBook(source string) string { return "waiting/" + source }

// maxWaiting is how large that record may be, in bytes. A store may take 1 MiB.
const maxWaiting = 512 << 10

// waitingRecord is what is kept of the articles of one source.
type waitingRecord struct {
	Articles []waitingArticle `json:"articles,omitempty"`
}

type waitingArticle struct {
	URL        string    `json:"url"`
	Title      string    `json:"title,omitempty"`
	Summary    string    `json:"summary,omitempty"`
	Author     string    `json:"author,omitempty"`
	Image      string    `json:"image,omitempty"`
	Categories []string  `json:"categories,omitempty"`
	GUID       string    `json:"guid,omitempty"`
	Published  time.Time `json:"published,omitzero"`
	Updated    time.Time `json:"updated,omitzero"`
	Since      time.Time `json:"since"`
	NotBefore  time.Time `json:"not_before,omitzero"`
	Reason     string    `json:"reason,omitempty"`
}

// Waiting returns the articles of a source whose pages were not there when they were
// looked at last.
func (q *Queue) Waiting(ctx context.Context, source string) ([]Waiting, error) {
	record, err := ReadBook[waitingRecord](ctx, q.Store, WaitingBook(source))
	if err != nil {
		return nil, err
	}
	all := make([]Waiting, 0, len(record.Articles))
	for _, a := range record.Articles {
		all = append(all, Waiting{
			Article: Article{
				URL: a.URL, Title: a.Title, Summary: a.Summary, Author: a.Author, Image: a.Image,
				Categories: a.Categories, GUID: a.GUID, Source: source, Published: a.Published, Updated: a.Updated,
			},
			Since: a.Since, NotBefore: a.NotBefore, Reason: a.Reason,
		})
	}
	return all, nil
}

// KeepWaiting remembers what of a batch still waits, and forgets the rest of the
// batch, which was decided. It reports whether there was room for all: if not, what is
// left out has to be read from its source again.
func (q *Queue) KeepWaiting(ctx context.Context, b Batch, waiting []Waiting) (all bool, err error) {
	if len(b.Waiting) == 0 && len(waiting) == 0 {
		return true, nil
	}
	site := q.SiteOf(b.Source)
	looked := make(map[string]bool)
	for _, a := range b.listed(site) {
		looked[orAsItIs(site, a.URL)] = true
	}
	err = ChangeBook(ctx, q.Store, WaitingBook(b.Source), func(r *waitingRecord) error {
		all = true
		// What another run noted meanwhile stays.
		r.Articles = slices.DeleteFunc(r.Articles, func(a waitingArticle) bool { return looked[orAsItIs(site, a.URL)] })
		size := 0
		for _, a := range r.Articles {
			size += a.size()
		}
		for _, w := range waiting {
			a := waitingArticle{
				URL: w.Article.URL, Title: w.Article.Title, Summary: w.Article.Summary, Author: w.Article.Author, Image: w.Article.Image,
				Categories: w.Article.Categories, GUID: w.Article.GUID, Published: w.Article.Published, Updated: w.Article.Updated,
				Since: w.Since, NotBefore: w.NotBefore, Reason: w.Reason,
			}
			if size += a.size(); size > maxWaiting {
				all = false
				break
			}
			r.Articles = append(r.Articles, a)
		}
		return nil
	})
	return all, err
}

func (a waitingArticle) size() int {
	raw, err := json.Marshal(a)
	if err != nil {
		return maxWaiting
	}
	return len(raw)
}

func orAsItIs(site dedupe.Site, url string) string {
	if canonical, err := site.Canonical(url); err == nil {
		return canonical
	}
	return url
}

// listed returns the batch's articles and those that wait, each once: what the source
// says of one now counts.
func (b Batch) listed(site dedupe.Site) []Article {
	if len(b.Waiting) == 0 {
		return b.Articles
	}
	now := make(map[string]bool, len(b.Articles))
	for _, a := range b.Articles {
		now[orAsItIs(site, a.URL)] = true
	}
	all := slices.Clone(b.Articles)
	for _, w := range b.Waiting {
		if !now[orAsItIs(site, w.Article.URL)] {
			all = append(all, w.Article)
		}
	}
	return all
}
