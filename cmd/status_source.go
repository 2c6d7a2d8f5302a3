package cmd

import (
	"fmt"
	"slices"
	"time"

	"bot/queue"
)

// rhythm is how often a source has something new, from its newest articles.
type rhythm struct {
	newest []seenArticle
	// lastNew is when an article of it was last new to a run.
	lastNew time.Time
}

type seenArticle struct {
	url string
	at  time.Time
}

// rhythmSize is how many articles a rhythm is made of.
const rhythmSize = 20

// note counts an entry's article, once however many destinations it has.
func (r *rhythm) note(e queue.Entry) {
	if e.QueuedAt.After(r.lastNew) {
		r.lastNew = e.QueuedAt
	}
	at := e.Article.Published
	if at.IsZero() {
		at = e.QueuedAt
	}
	if at.IsZero() || slices.ContainsFunc(r.newest, func(s seenArticle) bool { return s.url == e.Article.URL }) {
		return
	}
	i, _ := slices.BinarySearchFunc(r.newest, at, func(s seenArticle, at time.Time) int { return at.Compare(s.at) })
	if i == rhythmSize {
		return
	}
	r.newest = slices.Insert(r.newest, i, seenArticle{e.Article.URL, at})
	r.newest = r.newest[:min(len(r.newest), rhythmSize)]
}

const (
	// enoughArticles is from how many on there is a usual time between two.
	enoughArticles = 5
	// leastSilence is the shortest silence that is worth a word.
	leastSilence = 2 * 24 * time.Hour
)

// silent returns since when there has been nothing new, and how long it usually
// takes, if that is more than three times as long as it takes nine times in ten.
func (r *rhythm) silent(now time.Time) (since time.Time, usual time.Duration) {
	if len(r.newest) < enoughArticles {
		return time.Time{}, 0
	}
	gaps := make([]time.Duration, 0, len(r.newest))
	for i := 1; i < len(r.newest); i++ {
		gaps = append(gaps, r.newest[i-1].at.Sub(r.newest[i].at))
	}
	slices.Sort(gaps)
	usual = gaps[len(gaps)*9/10]
	if last := r.newest[0].at; now.Sub(last) > max(3*usual, leastSilence) {
		return last, usual
	}
	return time.Time{}, 0
}

// span says roughly how long something takes.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%d days", (d+day/2)/day)
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d hours", (d+time.Hour/2)/time.Hour)
	default:
		return fmt.Sprintf("%d minutes", max(d/time.Minute, 1))
	}
}
