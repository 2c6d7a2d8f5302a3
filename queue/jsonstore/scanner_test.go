package jsonstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"bot/dedupe"
	"bot/queue"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// scanned is what a reader made of a file.
type scanned struct {
	raws []string
	at   []span
	slow []bool
}

// scanAll reads data with a scanner whose window is small, so that everything
// falls on its edge sooner or later.
func scanAll(data string, window int) (scanned, error) {
	var all scanned
	s := newScanner(context.Background(), strings.NewReader(data), 0, int64(len(data)), window)
	err := s.run(int64(len(data)), func(r *record) error {
		all.raws = append(all.raws, string(r.raw))
		all.at = append(all.at, r.at)
		all.slow = append(all.slow, r.slow)
		return nil
	})
	return all, err
}

func readAll(data string) (scanned, error) {
	var all scanned
	err := eachValue(strings.NewReader(data), "file", func(raw jsontext.Value, at span) error {
		all.raws = append(all.raws, string(raw))
		all.at = append(all.at, at)
		return nil
	})
	return all, err
}

// checkScanner checks the scanner against jsontext, and that it misses no record
// that is wanted.
func checkScanner(t *testing.T, data string) (accepted bool) {
	t.Helper()
	expected, wantErr := readAll(data)
	for _, window := range []int{32, 100, windowSize} {
		got, err := scanAll(data, window)
		if err != nil {
			require.ErrorIs(t, err, errDoubt)
			return false
		}
		require.NoError(t, wantErr, "the scanner took what jsontext does not: %q", data)
		require.Equal(t, expected.raws, got.raws)
		require.Equal(t, expected.at, got.at)
	}
	for _, raw := range expected.raws {
		e, err := queue.ParseRecord(jsontext.Value(raw), queue.InPosted)
		for _, key := range []dedupe.Key{e.Key, {}} {
			m := newMatcher([]want{{id: e.ID, key: key}})
			f := finder{matcher: m}
			s := newScanner(context.Background(), strings.NewReader(data), 0, int64(len(data)), 64)
			serr := s.run(int64(len(data)), f.visit)
			if err != nil {
				require.ErrorIs(t, serr, errDoubt, "a record that cannot be read was passed over")
				return true
			}
			if errors.Is(serr, errDoubt) {
				continue // another record cannot be read
			}
			require.NoError(t, serr)
			require.NotEmpty(t, f.found, "the scanner missed %s in %q", raw, data)
			require.Equal(t, e.ID, f.found[0].id)
		}
	}
	return true
}

var scannerSeeds = []string{
	"[]", " [ ] ", "[\n]\n", "[1]", "[null]", `[{}]`, `["https://example.jp/a"]`, `["a","b" , "c"]`, `[""]`,
	`[{"url":"https://example.jp/a"},{"url":"https://www.example.jp/b/","webhook":null}]`,
	`[{"id":"8c3e6947-513a-59f7-91f8-bd8545b16041","webhook":"wh_ca978112ca1bbdcafac231b39a23dc4d","url":"https://example.jp/1","attempts":1,"shadow":true}]`,
	`[{"id":"x","webhook":"wh_ca978112ca1bbdcafac231b39a23dc4d","url":"u"},{"id":5,"webhook":"https://h.example/x","url":"https:\/\/example.jp\/a"}]`,
	"[\n  {\n    \"url\": \"https://example.jp/\\u3042\",\n    \"title\": \"題名 \\\" \\ud83d\\ude00 \u00e9\U0001f600\",\n    \"n\": -1.5e+10\n  }\n]\n",
	`[{"url":"a","tags":["a",1,true,null,-0.1E2],"x":{"y":[{}]},"list":[[1]],"empty":[],"none":[ ]}]`,
	`[{"url":"a","url":"b"}]`, `[{"url":"a","x":1,"x":2}]`, `[{"url":"a","x":{"y":1,"y":2}}]`, `[{"url":"a","longer name":1,"longer name2":2}]`,
	`[{"url":"a","x":01}]`, `[{"url":"a","x":1.}]`, `[{"url":"a","x":-}]`, `[{"url":"a","x":1e}]`, `[{"url":"a","x":truE}]`, `[{"url":"a","x":nul}]`,
	`[{"url":"a\ud83d"}]`, `[{"url":"a\ude00\ud83d"}]`, `[{"url":"a\q"}]`, "[{\"url\":\"a\tb\"}]", "[{\"url\":\"\xff\"}]", "[{\"url\":\"\xed\xa0\x80\"}]", "[{\"url\":\"\xe0\x80\x80\"}]",
	`[{"url":"a"}`, `[{"url":"a"},`, `[{"url":"a"},]`, `[{"url":"a"}]]`, `[{"url":"a"}] x`, "[{\"url\":\"a\"}]\x00", `[,{"url":"a"}]`, `[{"url":"a"}{"url":"b"}]`, "", " ", "{}", "\ufeff[]",
	`[{"url":"a",}]`, `[{"url" "a"}]`, `[{url:"a"}]`, `[{"u\u0072l":"a"}]`, `[{"url":"a","題":1}]`, `[{"url":"http:\/\/EXAMPLE.jp:80/x","key_url":"rule/r","bucket":"b"}]`,
	`[{"url":7},"x"]`, `[{"webhook":" wh_ca978112ca1bbdcafac231b39a23dc4d","id":"i","url":"u"}]`, `[{"webhook":"wh_CA978112ca1bbdcafac231b39a23dc4d","id":"i","url":"u"}]`,
}

func TestTheScannerAgreesWithJSONText(t *testing.T) {
	t.Parallel()
	for _, seed := range scannerSeeds {
		accepted := checkScanner(t, seed)
		_, err := readAll(seed)
		if err == nil && !accepted {
			t.Errorf("left to jsontext: %q", seed)
		}
	}
}

func TestTheScannerReadsOrdinaryRecordsByItself(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"id":"8c3e6947-513a-59f7-91f8-bd8545b16041","webhook":"wh_ca978112ca1bbdcafac231b39a23dc4d","url":"https://example.jp/1","title":"題名 \"\n","posted_at":"2026-08-03T00:00:00.000Z","attempts":1,"shadow":true}`,
		`{ "url": "https://example.jp/1", "tags": ["a", "b"], "score": -1.5 }`,
		`"https://example.jp/1"`,
	} {
		got, err := scanAll("["+raw+","+raw+"]", windowSize)
		require.NoError(t, err)
		require.Equal(t, []bool{false, false}, got.slow)
	}
}

func TestARecordLargerThanTheWindow(t *testing.T) {
	t.Parallel()
	raw := fmt.Sprintf(`{"url":"a","title":%q,"x":{"y":%q}}`, strings.Repeat("長", 5000), strings.Repeat("x", 30000))
	data := "[" + strings.Repeat(raw+",\n", 9) + raw + "]"
	require.True(t, checkScanner(t, data))
}

func TestAFileReadInPartsIsTheSameFile(t *testing.T) {
	t.Parallel()
	var records []string
	for n := range 2000 {
		record := fmt.Sprintf("{\n    \"url\": \"https://example.jp/%d\",\n    \"list\": [\n      {\"a\": 1},\n      {\"b\": 2}\n    ]\n  }", n)
		if n%3 == 0 {
			record = fmt.Sprintf("{\"url\":\"https://example.jp/%d\"}", n)
		}
		records = append(records, record)
	}
	for _, join := range []string{",\n  ", ",\n", ", "} {
		data := "[\n" + strings.Join(records, join) + "\n]\n"
		src := strings.NewReader(data)
		size := int64(len(data))
		whole, err := scanAll(data, windowSize)
		require.NoError(t, err)
		right, wrong := 0, 0
		for near := int64(0); near < size; near += 997 {
			cut := guessCut(src, near)
			if cut == 0 {
				continue
			}
			var raws []string
			collect := func(r *record) error { raws = append(raws, string(r.raw)); return nil }
			first := newScanner(t.Context(), src, 0, size, 100).run(cut, collect)
			second := newScanner(t.Context(), src, cut, size, 100).run(size, collect)
			if first == nil && second == nil {
				right++
				require.Equal(t, whole.raws, raws)
			} else {
				wrong++
				require.ErrorIs(t, first, errDoubt, "only who reads up to the cut can tell")
			}
		}
		if join != ", " {
			require.Positive(t, right)
			require.Positive(t, wrong)
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, seed := range scannerSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) { checkScanner(t, data) })
}

func FuzzAppendCanonical(f *testing.F) {
	for _, seed := range []string{
		"https://example.jp/a", "http://WWW.Example.jp/a/b//", "https://www.www.a/", "https://www.jp/", "https://a.b./c", "https://a..b/c", "https://a/./b",
		"https://a/.b/c.d", "https://a_b-c/~x", "https://a:443/", "https://u@a/", "https://a\\b/", "http://a?x/y", "https://a#b/c", "https://a", "https://xn--a/ü", "https:///a",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, url string) {
		host, ok := appendHost(nil, []byte(url))
		if !ok {
			return
		}
		want, err := dedupe.Canonical(url)
		if err == nil {
			require.True(t, strings.HasPrefix(want, "https://"+string(host)+"/"), "%q is %q, not at %q", url, want, host)
		}
		got, ok := appendCanonical(nil, []byte(url), host)
		if ok {
			require.NoError(t, err)
			require.Equal(t, want, string(got))
		}
	})
}

func FuzzParseLine(f *testing.F) {
	for _, e := range []event{
		{kind: anEntry, n: 1, durable: 200, value: []byte(`{"url":"a"}`)},
		{kind: anEntry, n: 2, over: true, value: []byte(`"x"`)},
		{kind: aForgotten, n: 3, name: "id \"\\"},
		{kind: aBook, n: 4, name: "a/b", value: []byte("[1]")},
		{kind: aBook, n: 5, name: "a/b"},
		{kind: anEnd, n: 7},
		{kind: aBase, n: 6, base: base{Posted: stand{1, 2}, Queue: stand{3, 4}}},
	} {
		line, err := appendLine(nil, e)
		require.NoError(f, err)
		line = bytes.TrimSuffix(line, []byte("\n"))
		got, ok := parseLine(line)
		require.True(f, ok)
		require.Equal(f, e, got)
		f.Add(string(line))
		f.Add(string(line[:len(line)-tailLen]))
	}
	head, err := appendHead(nil, head{Fleet: "fleet"})
	require.NoError(f, err)
	f.Add(string(head))
	f.Fuzz(func(t *testing.T, text string) {
		parseLine([]byte(text))
		parseHead([]byte(text))
		// With the right checksum it gets further.
		line := bytes.TrimSuffix(seal([]byte(text), 0), []byte("\n"))
		parseHead(line)
		e, ok := parseLine(line)
		if !ok {
			return
		}
		again, err := appendLine(nil, e)
		if err != nil {
			return // a name that is no UTF-8 was never written
		}
		got, ok := parseLine(bytes.TrimSuffix(again, []byte("\n")))
		require.True(t, ok)
		require.Equal(t, e, got)
	})
}
