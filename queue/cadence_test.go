package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bot/dedupe"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

// keys returns the second and third parts of the ledger's keys in these states,
// sorted.
func (f *fleet) keys(statuses ...queue.Status) []string {
	f.t.Helper()
	keys := []string{}
	for e, err := range f.Store.All(context.Background()) {
		require.NoError(f.t, err)
		if slices.Contains(statuses, e.Status) {
			_, rest, _ := strings.Cut(e.Key.String(), "|")
			keys = append(keys, rest)
		}
	}
	slices.Sort(keys)
	return keys
}

// cadenced is a fleet with one destination and one rule of this cadence.
func cadenced(t *testing.T, c dedupe.Cadence, per queue.Per) *fleet {
	t.Helper()
	f := newFleet(t)
	f.only("news")
	f.Rules[0].Cadence, f.Rules[0].Per = c, per
	f.Sources[0].Brake = 0
	return f
}

func TestACadenceIsPartOfTheKey(t *testing.T) {
	t.Parallel()
	in := func(path string, age time.Duration, categories ...string) queue.Article {
		a := article(path, age)
		a.Categories = categories
		return a
	}
	day := 24 * hour
	articles := []queue.Article{in("e", hour, "Go"), in("d", 2*hour, "pr", "news"), in("c", day, "news"), in("b", day+hour), in("a", 3*day, "news")}
	// Now is Monday, 3 August 2026, 09:00 UTC.
	for name, test := range map[string]struct {
		cadence dedupe.Cadence
		per     queue.Per
		want    []string
	}{
		"each article once in its day": {dedupe.Cadence{Period: dedupe.Daily}, queue.PerArticle, []string{
			"https://example.jp/a|daily 2026-07-31", "https://example.jp/b|daily 2026-08-02", "https://example.jp/c|daily 2026-08-02",
			"https://example.jp/d|daily 2026-08-03", "https://example.jp/e|daily 2026-08-03"}},
		"one article of a source in a day": {dedupe.Cadence{Period: dedupe.Daily}, queue.PerSource, []string{
			"rule/all/source/blog|daily 2026-07-31", "rule/all/source/blog|daily 2026-08-02", "rule/all/source/blog|daily 2026-08-03"}},
		"one article of a source in a week": {dedupe.Cadence{Period: dedupe.Weekly}, queue.PerSource, []string{
			"rule/all/source/blog|weekly 2026-07-27", "rule/all/source/blog|weekly 2026-08-03"}},
		"one article of a category in a month": {dedupe.Cadence{Period: dedupe.Monthly}, queue.PerCategory, []string{
			"rule/all/category/news|monthly 2026-07-01", "rule/all/category/|monthly 2026-08-01", "rule/all/category/go|monthly 2026-08-01",
			"rule/all/category/news|monthly 2026-08-01", "rule/all/category/pr|monthly 2026-08-01"}},
		"one article of a source for ever": {dedupe.Cadence{}, queue.PerSource, []string{"rule/all/source/blog"}},
		"every second article of a source": {dedupe.Cadence{Period: dedupe.Every, N: 2}, queue.PerSource, []string{
			"rule/all/source/blog|every 1", "rule/all/source/blog|every 3", "rule/all/source/blog|every 5"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := cadenced(t, test.cadence, test.per)
			added := f.add(queue.AddOptions{}, batch(false, articles...))
			require.Equal(t, len(articles), added.Matched)
			require.Equal(t, len(articles)-added.Queued, added.Already)
			slices.Sort(test.want)
			require.Equal(t, test.want, f.keys(queue.Queued))
			again := f.add(queue.AddOptions{}, batch(false, articles...))
			require.Equal(t, len(articles), again.Already)
			f.process(queue.ProcessOptions{})
			again = f.add(queue.AddOptions{}, batch(false, articles...))
			require.Equal(t, len(articles), again.Already)
			require.Equal(t, test.want, f.keys(queue.Posted))
		})
	}
}

func TestWhatWasDecidedAgainstTakesNoPeriod(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]dedupe.Cadence{"a day": {Period: dedupe.Daily}, "a count": {Period: dedupe.Every, N: 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := cadenced(t, c, queue.PerSource)
			f.Sources[0].FirstRun = 0
			baseline := []queue.Article{article("b", hour), article("a", 2*hour)}
			require.Equal(t, 2, f.add(queue.AddOptions{}, batch(true, baseline...)).Skipped)
			f.clock = now.Add(hour)
			added := f.add(queue.AddOptions{}, batch(false, append([]queue.Article{article("c", 0)}, baseline...)...))
			require.Equal(t, 1, added.Queued)
			require.Equal(t, 2, added.Already)
			require.Equal(t, "https://example.jp/c", added.Decisions[2].Entry.Article.URL)
			require.Equal(t, queue.AlreadySkipped, added.Decisions[0].Verdict)
		})
	}
}

func TestAnUndatedArticleCountsFromWhenItWasFirstSeen(t *testing.T) {
	t.Parallel()
	for _, per := range []queue.Per{queue.PerArticle, queue.PerSource} {
		f := cadenced(t, dedupe.Cadence{Period: dedupe.Daily}, per)
		a := article("a", undated)
		dry := f.add(queue.AddOptions{DryRun: true}, batch(false, a))
		require.Equal(t, 1, dry.Queued)
		added := f.add(queue.AddOptions{}, batch(false, a))
		require.Equal(t, queue.VerdictQueued, added.Decisions[0].Verdict)
		require.Equal(t, "the article has no date, so the time it was first seen counts", added.Decisions[0].Reason)
		require.Equal(t, "daily 2026-08-03", added.Decisions[0].Entry.Key.Bucket)
		for range 3 {
			f.clock = f.clock.Add(24 * hour)
			require.Equal(t, 1, f.add(queue.AddOptions{}, batch(false, a)).Already)
		}
		require.Equal(t, 1, f.add(queue.AddOptions{}, batch(false, article("b", undated), a)).Queued)
	}
}

func TestRulesThatCountDoNotSilenceEachOther(t *testing.T) {
	t.Parallel()
	f := cadenced(t, dedupe.Cadence{Period: dedupe.Daily}, queue.PerSource)
	f.Rules = append(f.Rules, f.Rules[0], queue.Rule{Name: "plain", From: []string{"blog"}, To: []string{"news"}})
	f.Rules[1].Name = "other"
	require.Equal(t, 3, f.add(queue.AddOptions{}, batch(false, article("a", hour))).Queued)
}

func TestOnlyOnceHeedsPostedRecordsWithoutAWebhook(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		period  dedupe.Period
		status  queue.Status
		verdict queue.Verdict
	}{
		{dedupe.Once, queue.Posted, queue.AlreadyLegacy}, {dedupe.Daily, queue.Posted, queue.VerdictQueued},
		{dedupe.Once, queue.Held, queue.AlreadyLegacy}, {dedupe.Daily, queue.Held, queue.AlreadyLegacy},
	} {
		f := cadenced(t, dedupe.Cadence{Period: test.period}, queue.PerArticle)
		legacy := queue.Entry{Key: dedupe.Key{URL: "https://example.jp/a"}, Article: queue.Article{URL: "https://example.jp/a"}, Status: test.status}
		legacy.ID = legacy.Key.ID()
		_, err := f.Store.Insert(context.Background(), []queue.Candidate{{Entry: &legacy}})
		require.NoError(t, err)
		require.Equal(t, test.verdict, f.add(queue.AddOptions{}, batch(false, article("a", hour))).Decisions[0].Verdict)
	}
}

// crashing is a store that stops working after so many changes, as a process that
// is killed does.
type crashing struct {
	queue.Store
	left int
}

var errKilled = errors.New("killed")

func (c *crashing) Insert(ctx context.Context, list []queue.Candidate) ([]queue.Known, error) {
	// Candidates are independent, so a crash may leave some of them.
	if c.left < len(list) {
		if c.left > 0 {
			if _, err := c.Store.Insert(ctx, list[:c.left]); err != nil {
				return nil, err
			}
		}
		c.left = 0
		return nil, errKilled
	}
	c.left -= len(list)
	return c.Store.Insert(ctx, list)
}

func (c *crashing) UpdateBook(ctx context.Context, name string, change func(json.RawMessage) (json.RawMessage, error)) error {
	if c.left == 0 {
		return errKilled
	}
	c.left--
	return c.Store.UpdateBook(ctx, name, change)
}

func TestARunThatCrashedAnywhereChangesNothingWhenItIsDoneAgain(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]queue.Rule{
		"every third of a source": {Cadence: dedupe.Cadence{Period: dedupe.Every, N: 3}, Per: queue.PerSource},
		"every second, anew":      {Cadence: dedupe.Cadence{Period: dedupe.Every, N: 2}},
		"a source a day":          {Cadence: dedupe.Cadence{Period: dedupe.Daily}, Per: queue.PerSource},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := func(crashes ...int) []string {
				f := cadenced(t, rule.Cadence, rule.Per)
				var articles []queue.Article
				for i := range 14 {
					age := time.Duration(i+1) * 9 * hour
					if i%5 == 0 {
						age = undated
					}
					articles = append(articles, article(fmt.Sprint(i), age))
				}
				store := f.Store
				for _, left := range crashes {
					f.Store = &crashing{store, left}
					_, err := f.Add(context.Background(), []queue.Batch{batch(false, articles[7:]...)}, queue.AddOptions{})
					if err != nil {
						require.ErrorIs(t, err, errKilled)
					}
				}
				f.Store = store
				f.add(queue.AddOptions{}, batch(false, articles[7:]...))
				f.process(queue.ProcessOptions{})
				f.add(queue.AddOptions{}, batch(false, articles...))
				return f.keys(queue.Queued, queue.Posted)
			}
			want := run()
			require.NotEmpty(t, want)
			for left := range 9 {
				require.Equal(t, want, run(left))
				require.Equal(t, want, run(left, left/2, 1))
			}
		})
	}
}

// TestScanningTheSameSourcesAgainFindsNothingNew goes through 120 days of five
// sources, 697 articles in all, day by day, and then through all of it again.
func TestScanningTheSameSourcesAgainFindsNothingNew(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]queue.Rule{
		"once":                    {},
		"daily":                   {Cadence: dedupe.Cadence{Period: dedupe.Daily}},
		"a source a day":          {Cadence: dedupe.Cadence{Period: dedupe.Daily}, Per: queue.PerSource},
		"a category a week":       {Cadence: dedupe.Cadence{Period: dedupe.Weekly}, Per: queue.PerCategory},
		"every third of a source": {Cadence: dedupe.Cadence{Period: dedupe.Every, N: 3}, Per: queue.PerSource},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			f.only("news")
			f.Sources = nil
			rule.Name, rule.To = "all", []string{"news"}
			for i := range 5 {
				s := fmt.Sprintf("site-%d", i)
				f.Sources = append(f.Sources, queue.Source{Name: s, MaxAge: 7 * 24 * hour, FirstRunAll: true})
				rule.From = append(rule.From, s)
			}
			f.Rules = []queue.Rule{rule}
			begin := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
			all := make([]queue.Batch, 5)
			total := 0
			for day := range 120 {
				batches := make([]queue.Batch, 5)
				for i := range 5 {
					batches[i].Source, all[i].Source = f.Sources[i].Name, f.Sources[i].Name
					for n := range (day*7+i*3)%3 + (day+i)%2*(i%2) {
						if total == 697 {
							break
						}
						a := queue.Article{
							URL: fmt.Sprintf("https://%s.example.jp/%d/%d", f.Sources[i].Name, day, n), Title: fmt.Sprintf("%d-%d", day, n),
							Source: f.Sources[i].Name, Categories: []string{[]string{"news", "manga", "go"}[(day+n)%3]},
						}
						if (day+n)%11 != 0 {
							a.Published = begin.AddDate(0, 0, day).Add(time.Duration(i*5+n) * time.Hour)
						}
						batches[i].Articles = append(batches[i].Articles, a)
						all[i].Articles = append(all[i].Articles, a)
						total++
					}
				}
				f.clock = begin.AddDate(0, 0, day+1)
				f.add(queue.AddOptions{}, batches...)
			}
			require.Equal(t, 697, total)
			f.clock = f.clock.Add(hour)
			for range 2 {
				again := f.add(queue.AddOptions{}, all...)
				require.Equal(t, [4]int{697, 0, 697, 0}, [4]int{again.Matched, again.Queued, again.Already, again.Skipped})
			}
		})
	}
}
