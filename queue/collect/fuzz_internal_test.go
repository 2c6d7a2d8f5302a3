package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"net/url"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"bot/dedupe"

	"github.com/stretchr/testify/require"
)

func addFeeds(f *testing.F) {
	for _, s := range append(testdata(f), withBodies(1)...) {
		f.Add(s.body)
	}
	for _, odd := range oddDocuments() {
		f.Add([]byte(odd.body))
	}
}

func FuzzParseFeed(f *testing.F) {
	addFeeds(f)
	base, err := url.Parse("https://example.jp/feed.xml")
	require.NoError(f, err)
	limits := Limits{Articles: 100, Depth: 64}.withDefaults()
	f.Fuzz(func(t *testing.T, body []byte) {
		start, before := time.Now(), allocated()
		defer func() {
			require.Less(t, time.Since(start), 10*time.Second)
			require.Less(t, allocated()-before, uint64(64<<20+4096*len(body)))
		}()
		parsed, err := parseFeed(context.Background(), body, "text/xml; charset=shift_jis", limits)
		if err != nil {
			require.NotContains(t, err.Error(), "gave up")
			return
		}
		require.LessOrEqual(t, len(parsed.Items), limits.Articles)
		r := new(Collector).reading(Source{Name: "src"}, &document{base: base}, parsed, Progress{})
		require.Equal(t, len(parsed.Items)+parsed.passedOver, len(r.articles)+r.dropped)
		for _, a := range r.articles {
			require.NotEmpty(t, a.URL)
			requireWeb(t, a.Image)
			if _, err := dedupe.Canonical(a.URL); err == nil {
				requireWeb(t, a.URL)
			}
			for text, limit := range map[string]int{a.Title: maxTitle, a.Summary: maxSummary, a.Author: maxLabel} {
				requirePlain(t, text, limit)
			}
		}
	})
}

// allocated is how much memory was ever asked for, in bytes.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// requireWeb requires an address to be absolute and of the web, if there is one.
func requireWeb(t *testing.T, address string) {
	t.Helper()
	if address == "" {
		return
	}
	require.True(t, isWeb(strings.TrimSpace(address)), address)
}

// FuzzCut reads documents with and without leaving anything out of them. Of HTML in
// Atom the parser makes a tree, and mends it, before it says what it holds: there,
// texts and pictures may differ where the HTML is broken.
func FuzzCut(f *testing.F) {
	addFeeds(f)
	limits := Limits{Articles: 100, Depth: 32}.withDefaults()
	f.Fuzz(func(t *testing.T, body []byte) {
		with, without, _ := bothWays(t, sample{body: body}, limits)
		require.Equal(t, len(without), len(with))
		if bytes.Contains(bytes.ToLower(prepared(body, "")), []byte("html")) {
			for i := range with {
				with[i].Summary, with[i].Image = without[i].Summary, without[i].Image
			}
		}
		require.Equal(t, without, with)
	})
}

// FuzzTaken reads texts part by part and as a whole.
func FuzzTaken(f *testing.F) {
	for kind := range uint8(4) {
		f.Add([]byte(page(1)), kind, uint16(0))
		f.Add([]byte(html.EscapeString(page(1))), kind, uint16(100))
		f.Add([]byte("<![CDATA["+page(2)+"]]>"), kind, uint16(5000))
		f.Add([]byte(`"<p>\u3042\n <img src=\"\/1.jpg\">"`), kind, uint16(4000))
	}
	f.Fuzz(func(t *testing.T, raw []byte, kind uint8, padding uint16) {
		taken := takenText{raw: raw, markup: markup(kind % 4)}
		if taken.markup == quoted {
			if end, good := stringEnd(raw, 0); !good || end != len(raw) || raw[0] != '"' {
				return
			}
			var want string
			require.NoError(t, json.Unmarshal(raw, &want))
			if utf8.Valid(raw) {
				require.Equal(t, want, unquoted(raw))
			}
		} else if at := bytes.Index(raw, []byte(sectionStart)); at >= 0 && !bytes.Contains(raw[at:], []byte(sectionEnd)) {
			return
		}
		// The interesting place may be anywhere.
		filler := bytes.Repeat([]byte("text "), int(padding)/5)
		at := len(raw) / 2
		if at > 0 && taken.markup != quoted {
			taken.raw = slices.Concat(raw[:at], filler, raw[at:])
		} else if at > 0 {
			taken.raw = slices.Concat(raw[:1], filler, raw[1:])
		}
		whole := &longText{text: taken.String(), whole: true}
		inParts := func() *longText { return &longText{taken: &taken} }
		require.Equal(t, whole.blank(), inParts().blank())
		for _, limit := range []int{1, 64, maxSummary} {
			require.Equal(t, plainText(whole.text, limit), inParts().plain(limit))
		}
		require.Equal(t, textImage([]*longText{whole}), textImage([]*longText{inParts()}))
	})
}

func requirePlain(t *testing.T, text string, limit int) {
	t.Helper()
	require.LessOrEqual(t, len(text), limit)
	require.True(t, utf8.ValidString(text), text)
	require.Negative(t, strings.IndexFunc(text, unicode.IsControl), text)
	require.Equal(t, strings.TrimSpace(text), text)
}

func FuzzScan(f *testing.F) {
	addFeeds(f)
	f.Add([]byte(strings.Repeat("<a>", 100)))
	f.Add([]byte(strings.Repeat(`{"a":[`, 100)))
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _, _ = scanXML(context.Background(), body, 32)
		_ = scanJSON(body, 32)
	})
}

func FuzzPlainText(f *testing.F) {
	for _, seed := range []string{"", "plain", "<p>a</p>b", "Vec<T>", "&amp;&#0;&#x1F600;", "<!--", "<script>x</", "\u3000a\u3000", "\xff<b", "&copy=2"} {
		f.Add(seed, 10)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = min(max(limit, 1), 1000)
		requirePlain(t, plainText(s, limit), limit)
	})
}

func FuzzReadList(f *testing.F) {
	f.Add("https://example.jp/a\r\n# c\n\ufeffx\ty\n")
	f.Fuzz(func(t *testing.T, s string) {
		urls, err := ReadList(strings.NewReader(s))
		if err != nil {
			return
		}
		seen := make(map[string]bool)
		for _, u := range urls {
			require.NotEmpty(t, u)
			require.Equal(t, strings.TrimSpace(u), u)
			require.NotContains(t, u, "\n")
			require.False(t, seen[u])
			seen[u] = true
		}
	})
}
