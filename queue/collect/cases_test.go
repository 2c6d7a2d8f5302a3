package collect_test

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bot/dedupe"
	"bot/queue"
	"bot/queue/collect"

	"github.com/stretchr/testify/require"
)

// expected is what a hard document holds: testdata/cases/*/expected.json. Fields
// ending in _any list answers that are as good.
type expected struct {
	FetchedFrom  string                  `json:"fetched_from"`
	Outcome      string                  `json:"outcome"`
	OutcomeAny   []string                `json:"outcome_any"`
	Items        []item                  `json:"items"`
	TitleAny     map[string][]string     `json:"title_any"`
	PublishedAny map[string][]*time.Time `json:"published_any"`
	ByZone       map[string][]*time.Time `json:"published_by_zone"`
	AfterDedupe  bool                    `json:"after_dedupe"`
	Skipped      int                     `json:"skipped"`
}

type item struct {
	URL       string     `json:"url"`
	Title     string     `json:"title"`
	Published *time.Time `json:"published"`
}

// TestHardDocuments reads documents that made trouble for somebody, each with the
// right answer.
func TestHardDocuments(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/cases/*")
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			var want expected
			raw, err := os.ReadFile(filepath.Join(folder, "expected.json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(raw, &want))
			testHardDocument(t, folder, want, nil, nil)
			for zone, published := range want.ByZone {
				place, err := time.LoadLocation(zone)
				require.NoError(t, err)
				testHardDocument(t, folder, want, place, published)
			}
		})
	}
}

func testHardDocument(t *testing.T, folder string, want expected, zone *time.Location, published []*time.Time) {
	t.Helper()
	inputs, err := filepath.Glob(filepath.Join(folder, "input.*"))
	require.NoError(t, err)
	require.Len(t, inputs, 1)
	body, err := os.ReadFile(inputs[0])
	require.NoError(t, err)
	address := want.FetchedFrom
	if address == "" {
		address = "https://example.jp/feed.xml"
	}
	u, err := url.Parse(address)
	require.NoError(t, err)
	w := web{u.Host + u.Path: text(string(body))}
	r := one(t, collector(w), collect.Source{Kind: kindOf(folder), Location: address, Zone: zone}, collect.Progress{})

	outcome := "ok"
	if r.Err != nil {
		outcome = "error"
	}
	if len(want.OutcomeAny) > 0 {
		require.Contains(t, want.OutcomeAny, outcome)
	} else {
		require.Equal(t, want.Outcome, outcome, "%v", r.Err)
	}
	if r.Err != nil || want.Items == nil || want.Outcome == "any" {
		return
	}
	articles := slices.DeleteFunc(slices.Clone(r.Articles), func(a queue.Article) bool {
		_, err := dedupe.Canonical(a.URL)
		return err != nil
	})
	if want.AfterDedupe {
		articles = slices.CompactFunc(articles, func(a, b queue.Article) bool { return canonical(t, a) == canonical(t, b) })
	}
	require.Len(t, articles, len(want.Items), "%v", r.Articles)
	for i, a := range articles {
		w := want.Items[i]
		require.Equal(t, w.URL, a.URL)
		if any := want.TitleAny[w.URL]; any != nil {
			require.Contains(t, any, a.Title)
		} else {
			require.Equal(t, w.Title, a.Title)
		}
		dates := []*time.Time{w.Published}
		if any := want.PublishedAny[w.URL]; any != nil {
			dates = any
		}
		if published != nil {
			dates = []*time.Time{published[i]}
		}
		require.True(t, slices.ContainsFunc(dates, func(d *time.Time) bool {
			return d == nil && a.Published.IsZero() || d != nil && a.Published.Equal(d.Truncate(time.Millisecond))
		}), "%s is published %v, want %v", w.URL, a.Published, dates[0])
	}
}

// kindOf tells the kind of a document from the name of its case.
func kindOf(folder string) collect.Kind {
	if strings.HasPrefix(filepath.Base(folder), "sitemap") {
		return collect.Sitemap
	}
	return collect.Feed
}

func canonical(t *testing.T, a queue.Article) string {
	t.Helper()
	address, err := dedupe.Canonical(a.URL)
	require.NoError(t, err)
	return address
}
