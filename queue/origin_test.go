package queue_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"bot/dedupe"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

// guided returns an article with the guid that its source gives it.
func guided(path, guid string, age time.Duration) queue.Article {
	a := article(path, age)
	a.GUID = guid
	return a
}

func TestAnArticleIsOneUnderWhateverAddress(t *testing.T) {
	t.Parallel()
	const day = 24 * hour
	type doc = []queue.Article
	address := "https://example.jp/"
	for name, test := range map[string]struct {
		set  func(*queue.Source)
		docs []doc
		want []string // the addresses that are queued in all, sorted
	}{
		"a new slug with the same guid is no new article": {
			docs: []doc{{guided("a", "https://example.jp/?p=123", hour)}, {guided("a-better-title", "https://example.jp/?p=123", hour)}},
			want: []string{"a"},
		},
		"however often the slug changes, and back": {
			docs: []doc{{guided("a", "g", hour)}, {guided("b", "g", hour)}, {guided("c", "g", hour)}, {guided("a", "g", hour)}},
			want: []string{"a"},
		},
		"not where the source's guids do not count": {
			set:  func(s *queue.Source) { s.GUID = false },
			docs: []doc{{guided("a", "g", hour)}, {guided("b", "g", hour)}},
			want: []string{"a", "b"},
		},
		"a new slug with a new guid is a new article: nothing tells otherwise": {
			docs: []doc{{guided("a", "https://example.jp/a", hour)}, {guided("x/a", "https://example.jp/x/a", hour)}},
			want: []string{"a", "x/a"},
		},
		"an article without a guid goes by its address": {
			docs: []doc{{article("a", hour)}, {article("b", hour)}},
			want: []string{"a", "b"},
		},
		"a guid that is another at every fetch makes nothing new": {
			docs: []doc{{guided("a", "uuid:1", hour)}, {guided("a", "uuid:2", hour)}, {guided("a", "uuid:3", hour)}},
			want: []string{"a"},
		},
		"neither does one that changes from http to https and back": {
			docs: []doc{{guided("a", "http://example.jp/a", hour)}, {guided("a", "https://example.jp/a", hour)}, {guided("a", "http://example.jp/a", hour)}},
			want: []string{"a"},
		},
		"a slug that changes together with the scheme and the host's case of its guid": {
			docs: []doc{{guided("a", "http://Example.jp/?p=1", hour)}, {guided("b", "https://example.jp/?p=1", hour)}},
			want: []string{"a"},
		},
		"guids that differ in their letters' case elsewhere are two": {
			docs: []doc{{guided("a", "yt:video:abc", hour)}, {guided("b", "yt:video:ABC", hour)}},
			want: []string{"a", "b"},
		},
		"an old guid that comes again after more than thirty days is a new article": {
			set:  func(s *queue.Source) { s.MaxAge = 1000 * day },
			docs: []doc{{guided("7-tools", "g7", 400*day)}, {guided("10-tools", "g7", hour)}, {guided("10-tools-corrected", "g7", hour)}},
			want: []string{"10-tools", "7-tools"},
		},
		"within thirty days it is the same with another date": {
			set:  func(s *queue.Source) { s.MaxAge = 1000 * day },
			docs: []doc{{guided("a", "g", 30*day)}, {guided("b", "g", 0)}},
			want: []string{"a"},
		},
		"one without a date keeps its guid": {
			docs: []doc{{guided("a", "g", undated)}, {guided("b", "g", hour)}, {guided("c", "g", undated)}},
			want: []string{"a"},
		},
		"a guid that stands on several items of a document tells nothing": {
			docs: []doc{{guided("b", "x", hour), guided("a", "x", 2*hour)}, {guided("c", "x", hour), guided("b", "x", hour)}},
			want: []string{"a", "b", "c"},
		},
		"nor later, when it stands on one only": {
			docs: []doc{{guided("b", "x", hour), guided("a", "x", 2*hour)}, {guided("c", "x", hour)}},
			want: []string{"a", "b", "c"},
		},
		"nor where it has stood on one only before": {
			docs: []doc{{guided("a", "x", 2*hour)}, {guided("b", "x", hour), guided("a", "x", 2*hour)}},
			want: []string{"a", "b"},
		},
		"an item that is listed twice is one, whatever its guids": {
			docs: []doc{{guided("a", "g1", 2*hour), guided("a", "g2", hour), guided("a#top", "g3", 2*hour)}},
			want: []string{"a"},
		},
		"an item that is listed twice with one guid keeps it": {
			docs: []doc{{guided("a", "g", hour), guided("a?utm_source=x", "g", hour)}, {guided("b", "g", hour)}},
			want: []string{"a"},
		},
		"items that share an address are one article, the oldest": {
			docs: []doc{{guided("", "u-2", hour), guided("", "u-1", 2*hour)}, {guided("", "u-3", 0)}},
			want: []string{""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			f.only("news")
			f.Sources[0].GUID = true
			if test.set != nil {
				test.set(&f.Sources[0])
			}
			for i, articles := range test.docs {
				f.add(queue.AddOptions{DryRun: true}, batch(false, articles...))
				f.add(queue.AddOptions{}, batch(false, articles...))
				// It holds for what waits and for what is done alike.
				if i > 0 {
					f.process(queue.ProcessOptions{})
				}
				require.Zero(t, f.add(queue.AddOptions{}, batch(false, articles...)).Queued)
			}
			var want []string
			for _, path := range test.want {
				want = append(want, address+path)
			}
			var got []string
			for e, err := range f.Store.All(context.Background()) {
				require.NoError(t, err)
				got = append(got, e.Article.URL)
			}
			require.ElementsMatch(t, want, got)
		})
	}
}

func TestTheVerdictNamesTheAddressThatWasKnown(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	f.Sources[0].GUID = true
	f.add(queue.AddOptions{}, batch(false, guided("a", "g", hour)))
	f.process(queue.ProcessOptions{})
	renamed := batch(false, guided("b", "g", hour))
	added := f.add(queue.AddOptions{}, renamed)
	require.Equal(t, queue.AlreadyPosted, added.Decisions[0].Verdict)
	require.Equal(t, "posted, as https://example.jp/a, which has the same guid", added.Decisions[0].Reason)

	all, err := f.Explain(t.Context(), "https://example.jp/b", []queue.Batch{renamed}, nil)
	require.NoError(t, err)
	ledger := all[0].Gates[len(all[0].Gates)-1]
	require.Equal(t, queue.Gate{
		Name:   "ledger",
		Detail: "entry " + added.Decisions[0].Entry.ID + ` is posted, of the same article as https://example.jp/a: source blog gave both the guid "g"`,
	}, ledger)
	require.Equal(t, "announced already, at 2026-08-03T09:00:00Z", all[0].Conclusion)
}

func TestWhatWasQueuedWhileGuidsDidNotCountIsKnownByThem(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	f.add(queue.AddOptions{}, batch(false, guided("a", "g", hour)))
	f.Sources[0].GUID = true
	require.Equal(t, []string{"news b already_queued"}, verdicts(f.add(queue.AddOptions{}, batch(false, guided("b", "g", hour)))))
}

func TestGuidsAreKnownAcrossAnEarlierWebhook(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	f.Sources[0].GUID = true
	f.add(queue.AddOptions{}, batch(false, guided("a", "g", hour)))
	d := &f.Destinations[0]
	d.FormerWebhooks, d.Webhook = []string{d.Webhook}, dedupe.Fingerprint("https://hook.example/another")
	added := f.add(queue.AddOptions{}, batch(false, guided("b", "g", hour)))
	require.Equal(t, []string{"news b already_queued"}, verdicts(added))
}

func TestARenamedArticleIsNoFurtherOccurrence(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cadence dedupe.Cadence
		per     queue.Per
		age     time.Duration
	}{
		"of itself, in its day":              {dedupe.Cadence{Period: dedupe.Daily}, queue.PerArticle, hour},
		"of itself, without a date":          {dedupe.Cadence{Period: dedupe.Daily}, queue.PerArticle, undated},
		"of itself, counted":                 {dedupe.Cadence{Period: dedupe.Every, N: 2}, queue.PerArticle, hour},
		"of its source, counted":             {dedupe.Cadence{Period: dedupe.Every, N: 2}, queue.PerSource, hour},
		"of its source, without a date":      {dedupe.Cadence{Period: dedupe.Weekly}, queue.PerSource, undated},
		"of its category, counted":           {dedupe.Cadence{Period: dedupe.Every, N: 1}, queue.PerCategory, hour},
		"of its source, in its month":        {dedupe.Cadence{Period: dedupe.Monthly}, queue.PerSource, hour},
		"of its category, dated, in its day": {dedupe.Cadence{Period: dedupe.Daily}, queue.PerCategory, hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := cadenced(t, test.cadence, test.per)
			f.Sources[0].GUID = true
			require.Equal(t, 1, f.add(queue.AddOptions{}, batch(false, guided("a", "g", test.age))).Queued)
			f.clock = now.Add(40 * hour)
			for _, path := range []string{"b", "c"} {
				added := f.add(queue.AddOptions{}, batch(false, guided(path, "g", test.age)))
				require.Equal(t, 1, added.Already, added.Decisions[0].Reason)
			}
			require.Len(t, f.keys(queue.Queued), 1)
		})
	}
}

func TestWhatARuleDecidedAgainstStaysSoUnderANewAddress(t *testing.T) {
	t.Parallel()
	for name, per := range map[string]queue.Per{"per article": queue.PerArticle, "per source": queue.PerSource} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := cadenced(t, dedupe.Cadence{Period: dedupe.Every, N: 2}, per)
			f.Sources[0].GUID, f.Sources[0].FirstRun = true, 0
			require.Equal(t, 1, f.add(queue.AddOptions{}, batch(true, guided("a", "g", hour))).Skipped)
			added := f.add(queue.AddOptions{}, batch(false, guided("b", "g", hour)))
			require.Equal(t, []string{"news b already_skipped"}, verdicts(added))
		})
	}
}

func TestOfItemsListedTwiceTheOldestCountsAndThenTheFirst(t *testing.T) {
	t.Parallel()
	titled := func(path, title string, age time.Duration, categories ...string) queue.Article {
		a := article(path, age)
		a.Title, a.Categories = title, categories
		return a
	}
	items := []queue.Article{titled("a", "updated", 0), titled("a", "first", hour), titled("a#top", "second", hour), titled("a", "third", hour, "manga")}
	for name, test := range map[string]struct {
		match      queue.Filter
		url, title string
	}{
		"of all":                     {queue.Filter{}, "https://example.jp/a", "first"},
		"of those that a rule takes": {queue.Filter{Categories: []string{"manga"}}, "https://example.jp/a", "third"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			f.only("news")
			f.Rules[0].Match = test.match
			added := f.add(queue.AddOptions{}, batch(false, items...))
			require.Equal(t, 1, added.Queued)
			require.Equal(t, test.url, added.Decisions[0].Entry.Article.URL)
			require.Equal(t, test.title, added.Decisions[0].Entry.Article.Title)
		})
	}
}

func TestIdentifiedLeavesTheDocumentAsItIs(t *testing.T) {
	t.Parallel()
	refused := queue.Article{URL: "javascript:x", GUID: "x"}
	items := []queue.Article{guided("a", "x", hour), guided("a/", "y", hour), guided("a", "y", 0), refused, refused}
	before := slices.Clone(items)
	got := queue.Identified(items, dedupe.Site{})
	require.Equal(t, before, items)
	var guids []string
	for _, a := range got {
		guids = append(guids, a.GUID)
	}
	require.Equal(t, []string{"", "y", "y", "", ""}, guids)
	require.Empty(t, queue.Identified(nil, dedupe.Site{}))
}

func TestAnArticleThatWaitsUnderAnOldAddressGivesWayToTheNewOne(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	f.Sources[0].GUID, f.Sources[0].Ready = true, true
	f.Pages = func(_ context.Context, articles []queue.Article) []queue.Page {
		pages := make([]queue.Page, len(articles))
		for i, a := range articles {
			if pages[i].Final = a.URL; a.URL == "https://example.jp/a" {
				pages[i].Err = errors.New("404")
			}
		}
		return pages
	}
	added := f.add(queue.AddOptions{}, batch(false, guided("a", "g", hour)))
	require.Len(t, added.Waiting, 1)
	renamed := batch(false, guided("b", "g", hour))
	renamed.Waiting = added.Waiting
	added = f.add(queue.AddOptions{}, renamed)
	require.Empty(t, added.Waiting)
	require.Equal(t, []string{"news b queued"}, verdicts(added))

	// When it is there after all, it is the same.
	renamed.Articles = nil
	require.Equal(t, []string{"news a already_queued"}, verdicts(f.add(queue.AddOptions{}, renamed)))
}
