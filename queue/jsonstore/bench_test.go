package jsonstore_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

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

// BenchmarkClaim is what a claim costs, made durable, beside BenchmarkRawAppend.
func BenchmarkClaim(b *testing.B) {
	for _, workers := range []int{1, 16} {
		b.Run(fmt.Sprint(workers, "-workers"), func(b *testing.B) {
			dir := benchDir(b)
			_, err := jsonstore.Init(dir, now())
			require.NoError(b, err)
			s := openBench(b, dir)
			var ids []string
			var all []queue.Candidate
			for n := range b.N {
				e := storetest.Entry("a", n)
				e.DueAt = now()
				ids, all = append(ids, e.ID), append(all, queue.Candidate{Entry: e})
			}
			_, err = s.Insert(b.Context(), all)
			require.NoError(b, err)
			require.NoError(b, s.Fold(b.Context()))
			_, err = s.Get(b.Context(), ids[0])
			require.NoError(b, err)
			all = nil
			runtime.GC()
			var next atomic.Int64
			b.SetParallelism((workers + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
			b.ResetTimer()
			if workers == 1 {
				for _, id := range ids {
					if _, err := s.Update(b.Context(), id, claimNow); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := s.Update(b.Context(), ids[next.Add(1)-1], claimNow); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkRawAppend is what the disk takes for as many bytes, in space that was
// reserved.
func BenchmarkRawAppend(b *testing.B) {
	f, err := os.Create(filepath.Join(benchDir(b), "raw"))
	require.NoError(b, err)
	defer f.Close()
	e, err := claimNow(storetest.Entry("a", 100))
	require.NoError(b, err)
	line, err := queue.MarshalRecord(e)
	require.NoError(b, err)
	line = append(line, `{"n":1234,"b":123456,"entry":,"crc":"01234567"}`+"\n"...)
	require.NoError(b, unix.Fallocate(int(f.Fd()), 0, 0, int64(b.N*len(line))))
	b.ResetTimer()
	for n := range b.N {
		if _, err := f.WriteAt(line, int64(n*len(line))); err != nil {
			b.Fatal(err)
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
	}
}

// writeHistory writes a posted.json of n records of 250 bytes, one in ten of which
// knows its address only.
func writeHistory(b *testing.B, path string, n int) {
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
			`"title":"今週の新刊 第%d巻","status":"posted","posted_at":"2026-08-03T00:00:00.000Z","attempts":1}`, key.ID(), key.Webhook, url, i)
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
			writeHistory(b, filepath.Join(dir, "posted.json"), records)
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
				all = append(all, queue.Candidate{Entry: e, Aliases: []dedupe.Key{e.Key.URLOnly()}})
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
