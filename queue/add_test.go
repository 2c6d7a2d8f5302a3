package queue_test

import (
	"context"
	"errors"
	"iter"
	"regexp"
	"testing"
	"time"

	"bot/dedupe"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

// verdicts returns what was decided, as "destination path verdict".
func verdicts(added queue.Added) []string {
	all := []string{}
	for _, d := range added.Decisions {
		all = append(all, d.Entry.Destination+" "+d.Entry.Article.Title+" "+string(d.Verdict))
	}
	return all
}

func TestWhatIsNewIsQueuedOnceForEachDestination(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	b := batch(false, article("b", hour), article("a", 2*hour))
	require.Equal(t, []string{"news a queued", "fans a queued", "news b queued", "fans b queued"}, verdicts(f.add(queue.AddOptions{}, b)))
	again := f.add(queue.AddOptions{}, b)
	require.Equal(t, 4, again.Already)
	require.Equal(t, queue.AlreadyQueued, again.Decisions[0].Verdict)
	f.process(queue.ProcessOptions{})
	require.Equal(t, queue.AlreadyPosted, f.add(queue.AddOptions{}, b).Decisions[0].Verdict)
}

func TestTheSameArticleInAnyGuiseIsOneEntry(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	first := article("a", hour)
	f.add(queue.AddOptions{}, batch(false, first))
	for _, url := range []string{
		"http://www.example.jp/a/", "https://EXAMPLE.jp:443/a#top", "https://example.jp/a?utm_source=x", "https://old.example.jp/a",
	} {
		a := first
		a.URL = url
		require.Equal(t, []string{"news a already_queued"}, verdicts(f.add(queue.AddOptions{}, batch(false, a))), url)
	}
}

func TestAnArticleTwiceInOneRunIsOneEntry(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	f.Rules = append(f.Rules, queue.Rule{Name: "second", From: []string{"blog"}, To: []string{"news"}})
	added := f.add(queue.AddOptions{}, batch(false, article("a", hour)), queue.Batch{Articles: []queue.Article{{URL: "https://example.jp/a/"}}})
	require.Equal(t, 3, added.Matched)
	require.Equal(t, 1, added.Queued)
	reasons := map[string]bool{}
	for _, d := range added.Decisions {
		reasons[d.Reason] = true
	}
	require.Contains(t, reasons, "queued by rule all", "the verdict names the rule that has it")
}

func TestFirstSightTakesOnlyWhatIsFresh(t *testing.T) {
	t.Parallel()
	articles := []queue.Article{article("fresh", hour), article("old", 25*hour), article("ancient", 30*24*hour), article("undated", undated)}
	tests := map[string]struct {
		set  func(*queue.Source)
		opts queue.AddOptions
		want []string
	}{
		"by default": {want: []string{"news ancient skipped_baseline", "news old skipped_baseline", "news fresh queued", "news undated skipped_baseline"}},
		"none": {
			set:  func(s *queue.Source) { s.FirstRun = 0 },
			want: []string{"news ancient skipped_baseline", "news old skipped_baseline", "news fresh skipped_baseline", "news undated skipped_baseline"},
		},
		"all, within max_age": {
			set:  func(s *queue.Source) { s.FirstRunAll = true },
			want: []string{"news ancient skipped_old", "news old queued", "news fresh queued", "news undated queued"},
		},
		"the newest two, when they are asked for": {
			opts: queue.AddOptions{Latest: 2},
			want: []string{"news ancient skipped_baseline", "news old queued", "news fresh queued", "news undated skipped_baseline"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			f.only("news")
			if test.set != nil {
				test.set(&f.Sources[0])
			}
			require.Equal(t, test.want, verdicts(f.add(test.opts, batch(true, articles...))))
			require.Zero(t, f.add(queue.AddOptions{}, batch(false, articles...)).Queued, "every decision is made once")
		})
	}
}

func TestANewDestinationHasAFirstSightOfItsOwn(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	b := batch(false, article("old", 25*hour), article("fresh", hour))
	b.Seen = b.Seen[:1]
	require.Equal(t, []string{"news old queued", "fans old skipped_baseline", "news fresh queued", "fans fresh queued"}, verdicts(f.add(queue.AddOptions{}, b)))
}

func TestALaterRunSkipsWhatIsOldAndTakesWhatIsUndated(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	added := f.add(queue.AddOptions{}, batch(false, article("late", 6*24*hour), article("old", 8*24*hour), article("undated", undated)))
	require.Equal(t, []string{"news old skipped_old", "news late queued", "news undated queued"}, verdicts(added))
}

func TestTheBrakeHoldsAllNewArticlesOfASource(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	f.add(queue.AddOptions{}, batch(false, article("known", hour)))
	b := batch(false, article("known", hour), article("a", hour), article("b", hour), article("c", hour))
	require.Equal(t, 3, f.add(queue.AddOptions{DryRun: true}, b).Queued, "as many as it takes")

	b.Articles = append(b.Articles, article("d", hour))
	added := f.add(queue.AddOptions{}, b)
	require.Equal(t, 4, added.Held)
	require.Contains(t, added.Decisions[0].Reason+added.Decisions[1].Reason, "bot queue release --source blog")
	require.Equal(t, 1, f.process(queue.ProcessOptions{}).Posted, "only the known one")
}

func TestOlderRecordsBlockTheirAddressEverywhere(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	raw := []byte(`{"url":"HTTP://www.Example.jp/a?utm_source=x"}`)
	e, err := queue.ParseRecord(raw, queue.InPosted)
	require.NoError(t, err)
	_, err = f.Store.Insert(context.Background(), []queue.Candidate{{Entry: &e}})
	require.NoError(t, err)
	added := f.add(queue.AddOptions{}, batch(false, article("a", hour)))
	require.Equal(t, []string{"news a already_legacy", "fans a already_legacy"}, verdicts(added))
}

func TestAFormerWebhookOfTheAccountStillCounts(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	d := f.only("news")
	f.add(queue.AddOptions{}, batch(false, article("a", hour)))
	f.process(queue.ProcessOptions{})
	d.FormerWebhooks, d.Webhook = []string{d.Webhook}, dedupe.Fingerprint("https://hook.example/rotated")
	require.Equal(t, []string{"news a already_posted"}, verdicts(f.add(queue.AddOptions{}, batch(false, article("a", hour)))))
}

func TestAddressesByHandSkipAgeAndRulesButNotTheLedger(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	byHand := queue.Batch{Articles: []queue.Article{{URL: "https://elsewhere.example/x", Title: "x", Published: now.Add(-9000 * hour)}}}
	require.Equal(t, []string{"fans x queued"}, verdicts(f.add(queue.AddOptions{To: []string{"fans"}}, byHand)))
	require.Equal(t, []string{"news x queued", "fans x already_queued"}, verdicts(f.add(queue.AddOptions{}, byHand)))
}

func TestFiltersLetThroughWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	a := article("New Manga volume", hour)
	a.Categories = []string{"Manga", "PR"}
	tests := map[string]struct {
		match, exclude queue.Filter
		want           int
	}{
		"nothing asked":             {want: 1},
		"the title matches":         {match: queue.Filter{Title: regexp.MustCompile("Manga")}, want: 1},
		"the title does not":        {match: queue.Filter{Title: regexp.MustCompile("^Manga")}},
		"one of two does not":       {match: queue.Filter{Title: regexp.MustCompile("Manga"), URL: regexp.MustCompile("games")}},
		"a category in any case":    {match: queue.Filter{Categories: []string{"manga", "games"}}, want: 1},
		"excluded by a category":    {exclude: queue.Filter{Categories: []string{"pr"}}},
		"excluded by one of two":    {exclude: queue.Filter{Title: regexp.MustCompile("nothing"), Categories: []string{"pr"}}},
		"not excluded by either":    {exclude: queue.Filter{Title: regexp.MustCompile("nothing"), Categories: []string{"x"}}, want: 1},
		"matched and also excluded": {match: queue.Filter{Title: regexp.MustCompile("Manga")}, exclude: queue.Filter{Categories: []string{"pr"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			f.only("news")
			f.Rules[0].Match, f.Rules[0].Exclude = test.match, test.exclude
			added := f.add(queue.AddOptions{DryRun: true}, batch(false, a))
			require.Equal(t, test.want, added.Queued)
			require.Equal(t, 1-test.want, added.Filtered)
		})
	}
}

func TestABadAddressIsRefusedWithAReasonAndNotRecorded(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	a := article("a", hour)
	a.URL = "javascript:alert(1)"
	added := f.add(queue.AddOptions{}, batch(false, a))
	require.Equal(t, 1, added.Refused)
	require.NotEmpty(t, added.Decisions[0].Reason)
	require.Empty(t, f.entries())
}

func TestADryRunChangesNothing(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	require.Equal(t, 2, f.add(queue.AddOptions{DryRun: true}, batch(false, article("a", hour))).Queued)
	require.Empty(t, f.entries())
}

func TestDueTimesKeepOrderSpacingAndFutureDates(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news").MinInterval = 10 * time.Minute
	due := func(added queue.Added) map[string]time.Duration {
		at := map[string]time.Duration{}
		for _, d := range added.Decisions {
			at[d.Entry.Article.Title] = d.Entry.DueAt.Sub(now)
		}
		return at
	}
	require.Equal(t, map[string]time.Duration{"a": 0, "b": 10 * time.Minute, "future": 3 * hour},
		due(f.add(queue.AddOptions{}, batch(false, article("future", -3*hour), article("b", hour), article("a", 2*hour)))))
	require.Equal(t, map[string]time.Duration{"c": 20 * time.Minute},
		due(f.add(queue.AddOptions{}, batch(false, article("c", hour)))), "a future date holds up nobody")
	require.Equal(t, map[string]time.Duration{"d": 3*hour + 10*time.Minute},
		due(f.add(queue.AddOptions{At: now.Add(3 * hour)}, batch(false, article("d", hour)))), "an explicit time is spaced too")
}

func TestWhatIsRecordedByHandCountsAsPosted(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	added, err := f.AddPosted(context.Background(), []string{"https://example.jp/a", "ftp://example.jp/b"}, []string{"news"})
	require.NoError(t, err)
	require.Equal(t, 1, added.Queued)
	require.Equal(t, 1, added.Refused)
	require.Equal(t, []string{"news a already_posted", "fans a queued"}, verdicts(f.add(queue.AddOptions{}, batch(false, article("a", hour)))))

	added, err = f.AddPosted(context.Background(), []string{"https://example.jp/a"}, nil)
	require.NoError(t, err)
	require.Equal(t, 1, added.Queued, "what was waiting for fans is posted there now")
	require.Zero(t, f.process(queue.ProcessOptions{}).Due)
}

// unlisted is a ledger that does not say what waits.
type unlisted struct{ queue.Store }

func (unlisted) Waiting(context.Context) iter.Seq2[queue.Entry, error] {
	return func(yield func(queue.Entry, error) bool) { yield(queue.Entry{}, errors.New("asked for what waits")) }
}

func TestWhatWaitsIsNotReadWhereEverythingIsDueAtOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.Store = unlisted{f.Store}
	for i := range f.Destinations {
		f.Destinations[i].Quiet.Zone = time.UTC
	}
	require.Equal(t, 2, f.add(queue.AddOptions{}, batch(false, article("a", hour))).Queued)
	f.Destinations[0].Quiet.From, f.Destinations[0].Quiet.To = 22*hour, 7*hour
	_, err := f.Add(context.Background(), []queue.Batch{batch(false, article("b", hour))}, queue.AddOptions{})
	require.ErrorContains(t, err, "asked for what waits")
}

func TestWhatIsNewToOneSourceIsNotSkippedForAnother(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"blog", "added"}, {"added", "blog"}} {
		f := newFleet(t)
		f.only("news")
		added := f.Sources[0]
		added.Name, added.FirstRun = "added", 0
		f.Sources = append(f.Sources, added)
		f.Rules[0].From = []string{"blog", "added"}
		batches := map[string]queue.Batch{
			"blog":  batch(false, article("new", hour)),
			"added": {Source: "added", Articles: []queue.Article{article("new", hour), article("old", 2*hour)}},
		}
		for i := range batches["added"].Articles {
			batches["added"].Articles[i].Source = "added"
		}
		out := f.add(queue.AddOptions{}, batches[order[0]], batches[order[1]])
		require.Equal(t, []int{1, 1, 1}, []int{out.Queued, out.Already, out.Skipped}, order)
		require.Equal(t, []string{"news https://example.jp/new queued", "news https://example.jp/old skipped"}, f.entries(), order)
	}
}
