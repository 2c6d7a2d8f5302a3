package dedupe_test

import (
	"bufio"
	"net/url"
	"os"
	"strings"
	"testing"
	"unicode"

	"bot/dedupe"

	"github.com/stretchr/testify/require"
)

type pair struct{ a, b, verdict, canonical, why string }

func pairs(t testing.TB) []pair {
	t.Helper()
	f, err := os.Open("testdata/canonical.tsv")
	require.NoError(t, err)
	defer f.Close()
	var all []pair
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		c := strings.Split(lines.Text(), "\t")
		require.Len(t, c, 5, lines.Text())
		all = append(all, pair{c[0], c[1], c[2], c[3], c[4]})
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, all)
	return all
}

func TestCanonicalIsTheOneSpellingOfAnAddress(t *testing.T) {
	t.Parallel()
	for _, p := range pairs(t) {
		t.Run(p.a, func(t *testing.T) {
			t.Parallel()
			a, err := dedupe.Canonical(p.a)
			if want, refused := strings.CutPrefix(p.canonical, "! "); refused {
				require.Equal(t, "invalid", p.verdict)
				require.ErrorContains(t, err, want)
				require.NotContains(t, err.Error(), "pw")
				return
			}
			require.NoError(t, err)
			require.Equal(t, p.canonical, a, p.why)
			again, err := dedupe.Canonical(a)
			require.NoError(t, err)
			require.Equal(t, a, again, "idempotent")
			if p.b == "" {
				return
			}
			b, err := dedupe.Canonical(p.b)
			require.NoError(t, err)
			switch p.verdict {
			case "same":
				require.Equal(t, b, a, p.why)
			case "distinct":
				require.NotEqual(t, b, a, p.why)
			default:
				t.Fatalf("verdict %q", p.verdict)
			}
		})
	}
}

func TestCanonicalRefusesWhatIsTooLong(t *testing.T) {
	t.Parallel()
	const start = "https://example.jp/"
	fits := start + strings.Repeat("a", dedupe.MaxURL-len(start))
	got, err := dedupe.Canonical(fits)
	require.NoError(t, err)
	require.Equal(t, fits, got)
	_, err = dedupe.Canonical(fits + "a")
	require.ErrorContains(t, err, "longer than 8192 bytes")
	_, err = dedupe.Canonical(start + strings.Repeat("あ", 1000))
	require.ErrorContains(t, err, "longer than 8192 bytes", "escapes count")
}

func TestCanonicalRemovesLineBreaksInside(t *testing.T) {
	t.Parallel()
	got, err := dedupe.Canonical("\r\n\thttps://example.jp/\n  a\tb \x00")
	require.NoError(t, err)
	require.Equal(t, "https://example.jp/%20%20ab", got)
}

func TestCanonicalKeepsBytesThatAreNoText(t *testing.T) {
	t.Parallel()
	got, err := dedupe.Canonical("https://example.jp/\xff\x00a")
	require.NoError(t, err)
	require.Equal(t, "https://example.jp/%FF%00a", got)
	_, err = dedupe.Canonical("https://exam\xffple.jp/")
	require.Error(t, err)
}

func TestCanonicalOfACanonicalAddressDoesNotAllocate(t *testing.T) {
	const address = "https://example.jp/archives/2026/08/a-plain-article?id=3"
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if got, err := dedupe.Canonical(address); err != nil || got != address {
			t.Error(got, err)
		}
	}))
}

func FuzzCanonical(f *testing.F) {
	for _, p := range pairs(f) {
		f.Add(p.a)
		f.Add(p.b)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		stripped := dedupe.StripTracking(raw, []string{"x"})
		got, err := dedupe.Canonical(raw)
		if err != nil {
			require.Empty(t, got)
			return
		}
		again, err := dedupe.Canonical(got)
		require.NoError(t, err)
		require.Equal(t, got, again, "idempotent")
		require.NotContains(t, got, "|")
		require.Negative(t, strings.IndexFunc(got, func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r) || r > unicode.MaxASCII
		}), got)
		parsed, err := url.Parse(got)
		require.NoError(t, err)
		require.NotEmpty(t, parsed.Hostname())
		require.Nil(t, parsed.User)
		require.Contains(t, []string{"http", "https"}, parsed.Scheme)
		// Where an escaped & is resolved first, the host may end elsewhere.
		if before, err := url.Parse(raw); err == nil && before.Host != "" && !strings.ContainsAny(before.Host, "%&") {
			// Lower-case İ is i for Go alone; IDNA keeps its dot.
			host := strings.TrimSuffix(strings.ToLower(before.Hostname()), ".")
			if !strings.HasPrefix(host, "www.") && !strings.Contains(host, ":") && isASCII(before.Hostname()) {
				require.Equal(t, host, parsed.Hostname())
			}
		}
		// What is announced is known under the same key, unless it no longer fits.
		announced, err := dedupe.Site{StripParams: []string{"x"}}.Canonical(stripped)
		if err == nil {
			key, err := dedupe.Site{StripParams: []string{"x"}}.Canonical(raw)
			require.NoError(t, err)
			require.Equal(t, key, announced)
		}
		require.Equal(t, stripped, dedupe.StripTracking(stripped, []string{"x"}), "stripping is idempotent")
	})
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

func BenchmarkCanonical(b *testing.B) {
	for name, address := range map[string]string{
		"canonical": "https://example.jp/archives/2026/08/a-plain-article",
		"query":     "https://example.jp/archives?p=12345&lang=ja",
		"rewritten": "http://www.Example.jp/archives/2026/08/a-plain-article/?utm_source=rss&utm_medium=feed",
		"unicode":   "https://例え.jp/タグ/記事",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := dedupe.Canonical(address); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
