package jsonstore_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bot/dedupe"
	"bot/queue"
	"bot/queue/jsonstore"
	"bot/queue/storetest"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// benchDir returns a directory on a disk: syncs in memory cost nothing and say
// nothing. BENCH_DIR names one where the default is not.
func benchDir(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp(os.Getenv("BENCH_DIR"), "ledger")
	require.NoError(b, err)
	b.Cleanup(func() { os.RemoveAll(dir) })
	var st unix.Statfs_t
	require.NoError(b, unix.Statfs(dir, &st))
	if st.Type == 0x01021994 {
		b.Skip("this is a disk in memory; set BENCH_DIR")
	}
	return dir
}

func openBench(b *testing.B, dir string) *jsonstore.Store {
	b.Helper()
	s, err := jsonstore.Open(b.Context(), jsonstore.Options{Dir: dir, Now: now})
	require.NoError(b, err)
	b.Cleanup(func() { s.Close() })
	return s
}

// BenchmarkClaim is what a claim costs, made durable, by one worker and by sixteen
// of one process. x-raw is how many claims are made in the time in which the disk
// takes one write of as many bytes into reserved space, with a sync: the median of
// pairs taken in turns, since a disk has its moods.
func BenchmarkClaim(b *testing.B) {
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprint(workers, "-workers"), func(b *testing.B) {
			turn := 100 * workers
			dir := benchDir(b)
			s, ids := waiting(b, dir, b.N)
			raw := newRawAppender(b, filepath.Join(dir, "raw"), b.N)
			var ratios []float64
			b.ResetTimer()
			for len(ids) > 0 {
				n := min(turn, len(ids))
				start := time.Now()
				claimEach(b, s, ids[:n], workers)
				claims := time.Since(start)
				b.StopTimer()
				start = time.Now()
				raw.append(b, n)
				if n == turn {
					ratios = append(ratios, float64(time.Since(start))/float64(claims))
				}
				ids = ids[n:]
				b.StartTimer()
			}
			if len(ratios) > 0 {
				slices.Sort(ratios)
				b.ReportMetric(ratios[len(ratios)/2], "x-raw")
			}
		})
	}
}

// waiting returns a store with n entries that are due, and their IDs.
func waiting(b *testing.B, dir string, n int) (*jsonstore.Store, []string) {
	b.Helper()
	_, err := jsonstore.Init(dir, now())
	require.NoError(b, err)
	s := openBench(b, dir)
	var ids []string
	var all []queue.Candidate
	for i := range n {
		e := storetest.Entry("a", i)
		e.DueAt = now()
		ids, all = append(ids, e.ID), append(all, queue.Candidate{Entry: &e})
	}
	_, err = s.Insert(b.Context(), all)
	require.NoError(b, err)
	require.NoError(b, s.Fold(b.Context()))
	_, err = s.Get(b.Context(), ids[0])
	require.NoError(b, err)
	return s, ids
}

func claimEach(b *testing.B, s *jsonstore.Store, ids []string, workers int) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= len(ids) {
					return
				}
				if _, err := s.Update(b.Context(), ids[n], claimNow); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// rawAppender writes what a claim writes, and nothing else is done.
type rawAppender struct {
	f    *os.File
	line []byte
	n    int
}

func newRawAppender(b *testing.B, path string, n int) *rawAppender {
	b.Helper()
	f, err := os.Create(path)
	require.NoError(b, err)
	b.Cleanup(func() { f.Close() })
	e, err := claimNow(storetest.Entry("a", 100))
	require.NoError(b, err)
	line, err := queue.MarshalRecord(e)
	require.NoError(b, err)
	line = append(line, `{"n":1234,"b":123456,"entry":,"crc":"01234567"}`+"\n"...)
	require.NoError(b, unix.Fallocate(int(f.Fd()), 0, 0, int64(n*len(line))))
	require.NoError(b, f.Sync())
	return &rawAppender{f: f, line: line}
}

func (r *rawAppender) append(b *testing.B, n int) {
	for range n {
		if _, err := r.f.WriteAt(r.line, int64(r.n*len(r.line))); err != nil {
			b.Fatal(err)
		}
		if err := unix.Fdatasync(int(r.f.Fd())); err != nil {
			b.Fatal(err)
		}
		r.n++
	}
}

// BenchmarkRawAppend is what the disk takes for as many bytes as a claim writes.
func BenchmarkRawAppend(b *testing.B) {
	raw := newRawAppender(b, filepath.Join(benchDir(b), "raw"), b.N)
	b.ResetTimer()
	raw.append(b, b.N)
}

// writeHistory writes a posted.json of n records of 250 bytes, one in ten of which
// knows its address only. With guids the others have one.
func writeHistory(b *testing.B, path string, n int, guids bool) {
	b.Helper()
	f, err := os.Create(path)
	require.NoError(b, err)
	w := bufio.NewWriterSize(f, 1<<20)
	hooks := []string{dedupe.Fingerprint("a"), dedupe.Fingerprint("b"), dedupe.Fingerprint("c")}
	w.WriteString("[\n")
	for i := range n {
		if i > 0 {
			w.WriteString(",\n")
		}
		url := fmt.Sprintf("https://example.jp/manga/%d", i)
		if i%10 == 0 {
			fmt.Fprintf(w, `{"url":"https://www.example.jp/old/%d/"}`, i)
			continue
		}
		key := dedupe.Key{Webhook: hooks[i%3], URL: url}
		fmt.Fprintf(w, `{"id":"%s","webhook":"%s","url":"%s","destination":"manga-x","rule":"manga","source":"manga",`+
			`"title":"今週の新刊 第%d巻","status":"posted","posted_at":"2026-08-03T00:00:00.000Z","attempts":1`, key.ID(), key.Webhook, url, i)
		if guids {
			fmt.Fprintf(w, `,"guid":"http://example.jp/?p=%d"`, i)
		}
		w.WriteByte('}')
	}
	w.WriteString("\n]\n")
	require.NoError(b, w.Flush())
	require.NoError(b, f.Close())
}

// BenchmarkLookup is what it costs to tell whether a thousand candidates are among
// so many records.
func BenchmarkLookup(b *testing.B) {
	for _, records := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(records), func(b *testing.B) {
			dir := benchDir(b)
			writeHistory(b, filepath.Join(dir, "posted.json"), records, false)
			info, err := os.Stat(filepath.Join(dir, "posted.json"))
			require.NoError(b, err)
			b.SetBytes(info.Size())
			var all []queue.Candidate
			for n := range 1000 {
				at := n * (records / 1000)
				if n%3 == 0 {
					at += records
				}
				e := storetest.Entry("a", 0)
				e.Key.URL = fmt.Sprintf("https://example.jp/manga/%d", at)
				if n%7 == 0 {
					e.Key.URL = fmt.Sprintf("https://example.jp/old/%d", at)
				}
				e.ID = e.Key.ID()
				all = append(all, queue.Candidate{Entry: &e, Aliases: []dedupe.Key{e.Key.URLOnly()}})
			}
			for b.Loop() {
				s, err := jsonstore.OpenReadOnly(b.Context(), dir)
				require.NoError(b, err)
				_, err = s.Lookup(b.Context(), all)
				require.NoError(b, err)
				require.NoError(b, s.Close())
			}
		})
	}
}

// BenchmarkLookupByGUID is what it adds to ask for articles under new addresses: a
// thousand candidates, of which a third are posted, a third are posted under another
// address, and a third are new, among a million records with guids.
func BenchmarkLookupByGUID(b *testing.B) {
	const records = 1_000_000
	dir := benchDir(b)
	writeHistory(b, filepath.Join(dir, "posted.json"), records, true)
	var all []queue.Candidate
	for n := range 1000 {
		at := n*(records/1000) + 1
		e := storetest.Entry([]string{"a", "b", "c"}[at%3], 0)
		e.Article.Source, e.Article.GUID = "manga", fmt.Sprintf("https://example.jp/?p=%d", at)
		e.Key.URL = fmt.Sprintf("https://example.jp/manga/%d", at)
		switch n % 3 {
		case 1:
			e.Key.URL += "/renamed"
		case 2:
			e.Key.URL += "/new"
			e.Article.GUID += "new"
		}
		e.ID = e.Key.ID()
		all = append(all, queue.Candidate{Entry: &e, Aliases: []dedupe.Key{e.Key.URLOnly()}})
	}
	lookup := func(b *testing.B, want int) {
		for b.Loop() {
			s, err := jsonstore.OpenReadOnly(b.Context(), dir)
			require.NoError(b, err)
			answers, err := s.Lookup(b.Context(), all)
			require.NoError(b, err)
			require.NoError(b, s.Close())
			require.Len(b, slices.DeleteFunc(answers, queue.Known.New), want)
		}
	}
	b.Run("by-address", func(b *testing.B) { lookup(b, 334) })
	for i := range all {
		all[i].Origins = []dedupe.Origin{all[i].Entry.Origin()}
	}
	b.Run("by-guid-too", func(b *testing.B) { lookup(b, 667) })
}
