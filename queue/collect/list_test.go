package collect_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"bot/queue"
	"bot/queue/collect"

	"github.com/stretchr/testify/require"
)

const list = "\ufeffhttps://example.jp/a\r\n\r\n# comment\r\n  https://example.jp/b  \r\nhttps://example.jp/a\r\n" +
	"https://example.jp/c?utm_source=x\tTitle &amp; C\r\nnot a url\r\nhttps://example.jp/d#x # why\nHTTPS://EXAMPLE.JP/a"

func TestAListIsReadLineByLine(t *testing.T) {
	t.Parallel()
	got, err := collect.ReadList(strings.NewReader(list))
	require.NoError(t, err)
	require.Equal(t, []string{
		"https://example.jp/a", "https://example.jp/b", "https://example.jp/c?utm_source=x", "not a url", "https://example.jp/d#x", "HTTPS://EXAMPLE.JP/a",
	}, got)

	for _, empty := range []string{"", "\n\n", "# nothing", "\ufeff"} {
		got, err = collect.ReadList(strings.NewReader(empty))
		require.NoError(t, err)
		require.Empty(t, got)
	}
}

func TestListsOverALimitAreRefusedWhole(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 10_001 {
		many.WriteString("https://example.jp/" + strings.Repeat("a", i%100) + string(rune('a'+i%26)) + strings.Repeat("b", i/100) + "\n")
	}
	for _, c := range []struct{ name, body, want string }{
		{"too many", many.String(), "the list has more than 10000 addresses, which is the limit"},
		{"a long line", "https://example.jp/a\n" + strings.Repeat("a", 70_000), "line 2 of the list is longer than 64 KiB"},
		{"not text", "https://example.jp/\xff", "the list is not UTF-8 text"},
		{"too long", strings.Repeat("#\n", 17<<20), "it is longer than 32 MiB, which is the limit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := collect.ReadList(strings.NewReader(c.body))
			require.EqualError(t, err, c.want)
		})
	}
	broken := errors.New("broken")
	_, err := collect.ReadList(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
}

func TestAListSourceHoldsArticles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "list.txt")
	require.NoError(t, os.WriteFile(path, []byte("https://example.jp/a\nhttps://example.jp/c?utm_source=x&ref=y\tTitle &amp; C\nnot a url\n"), 0o600))
	want := []queue.Article{
		{URL: "not a url", Source: "src"},
		{URL: "https://example.jp/c", Listed: "https://example.jp/c?ref=y", Title: "Title & C", Source: "src"},
		{URL: "https://example.jp/a", Source: "src"},
	}
	source := collect.Source{Kind: collect.List, Location: path, StripParams: []string{"ref"}}
	r := one(t, collector(web{}), source, collect.Progress{})
	require.NoError(t, r.Err)
	require.Equal(t, want, r.Articles, "the last line is the newest")

	body, err := os.ReadFile(path)
	require.NoError(t, err)
	source.Location = "https://example.jp/list.txt"
	w := web{"example.jp/list.txt": text(string(body))}
	r = one(t, collector(w), source, collect.Progress{})
	require.NoError(t, r.Err)
	require.Equal(t, want, r.Articles)
	require.Equal(t, source.Location, r.Next.FetchedURL)

	w["example.jp/list.txt"] = status(304)
	r = one(t, collector(w), source, collect.Progress{ETag: `"a"`, FetchedURL: source.Location})
	require.Equal(t, collect.StatusNotModified, r.Status)
}

func TestAPageIsNotAList(t *testing.T) {
	t.Parallel()
	source := collect.Source{Kind: collect.List, Location: "https://example.jp/list.txt"}
	for _, body := range []string{"<!doctype html><title>404</title>", rss("https://example.jp/a"), "\ufeff\n<rss version=\"2.0\">\n</rss>"} {
		r := one(t, collector(web{"example.jp/list.txt": text(body)}), source, collect.Progress{})
		require.EqualError(t, r.Err, "read https://example.jp/list.txt: it is a document of markup, not a list of addresses")
	}
	r := one(t, collector(web{"example.jp/list.txt": text("https://example.jp/\xff")}), source, collect.Progress{})
	require.EqualError(t, r.Err, "read https://example.jp/list.txt: the list is not UTF-8 text")
}
