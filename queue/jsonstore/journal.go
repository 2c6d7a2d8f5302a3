package jsonstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Space for the journal is reserved in few and large pieces: on ext4, a file of four
// pieces or more is a tenth slower to sync. What is left over is given back by Close.
const (
	leastReserve = 8 << 20
	mostReserve  = 64 << 20
	// growBy is how many times its length a longer journal is given.
	growBy = 4
	// fillBy is how much of the reserved space is written with zeros at a time, from the
	// fillFrom-th append on. What was written once is a tenth faster to sync than what
	// was only reserved, but for a few steps that is no gain.
	fillBy   = 64 << 10
	fillFrom = 8
)

// journal is the open journal. All of it happens under the lock, but for syncs: while
// one worker waits for the disk, others may write.
type journal struct {
	path string
	file *os.File
	// ino tells this journal from the one that a fold puts in its place. The open
	// file keeps the number from being used again.
	ino uint64
	// end is where the lines that were read or written end; size is the file's,
	// with the space reserved after them, which holds zeros.
	end, size int64
	// next is the number of the next line.
	next  int64
	head  head
	plain bool // the file system cannot reserve space
	// appends counts the writes by this worker, and filled is up to where the space
	// after them was written with zeros.
	appends int
	filled  int64

	// The rest is what syncs share, guarded by mu.
	mu sync.Mutex
	// durable is how much of it is known to be on the disk, and appended how much this
	// worker has written.
	durable, appended int64
	// synced is told when a sync has ended. One is made at a time, and covers all
	// that was written before it began.
	synced  *sync.Cond
	syncing bool
	failed  error // of a sync
	// waiting counts the steps that have yet to be synced. The last of them closes the
	// file of a journal that is closing.
	waiting int
	closing bool
}

// newJournal returns the journal in f, whose lines up to end were read.
func newJournal(path string, f *os.File, id identity, end int64, h head) *journal {
	j := &journal{path: path, file: f, ino: id.ino, end: end, size: id.size, next: 1, durable: end, head: h}
	j.synced = sync.NewCond(&j.mu)
	return j
}

// onDisk returns how much is known to be on the disk.
func (j *journal) onDisk() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.durable
}

// bareJournal writes a journal that has only a head. It puts the head at the
// beginning of as much space as is reserved later, so that this can follow on the
// disk.
func bareJournal(line []byte) func(*os.File) error {
	return func(f *os.File) error {
		// Without it there are more pieces, and that is all.
		_, _ = reserve(f, 0, leastReserve)
		if err := writeBytes(line)(f); err != nil {
			return err
		}
		return f.Truncate(int64(len(line)))
	}
}

// fresh reports whether something was appended behind end. It costs one read of
// one byte, where readTail reads all the reserved space.
func (j *journal) fresh() (bool, error) {
	var first [1]byte
	n, err := j.file.ReadAt(first[:], j.end)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return n == 1 && first[0] != 0, nil
}

// readTail reads the lines that stand after end, hands each to apply, and moves
// end behind them. Where a line cannot be read it returns how many bytes from end
// on are no lines: a torn end, to be cut off. Damage below what was durable is a
// *FileError. With whole, and where a line cannot be read, all of the reserved space
// is looked at.
func (j *journal) readTail(whole bool, apply func(event) error) (torn int64, err error) {
	find := j.begun
	if whole {
		find = j.written
	}
	limit, err := find()
	if err != nil {
		return 0, err
	}
	data := make([]byte, limit-j.end)
	if _, err := j.file.ReadAt(data, j.end); err != nil {
		return 0, err
	}
	for {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			break
		}
		e, ok := parseLine(line)
		if !ok || e.n != j.next {
			break
		}
		if err := apply(e); err != nil {
			return 0, fileErrorf(j.path, j.end, "the line is sealed and yet cannot be read: %w", err)
		}
		j.mu.Lock()
		j.durable = max(j.durable, e.durable)
		j.mu.Unlock()
		j.next++
		j.end += int64(len(line)) + 1
		data = rest
	}
	switch {
	case len(data) == 0:
		return 0, nil
	case !whole:
		return j.readTail(true, apply)
	}
	return int64(len(data)), j.assess(data)
}

// begun returns the offset of the first zero from end on: while nothing was lost,
// the lines end there.
func (j *journal) begun() (int64, error) {
	buf := make([]byte, 4<<10)
	for at := j.end; at < j.size; {
		n, err := j.file.ReadAt(buf[:min(j.size-at, int64(len(buf)))], at)
		if err != nil {
			return 0, err
		}
		if zero := bytes.IndexByte(buf[:n], 0); zero >= 0 {
			return at + int64(zero), nil
		}
		at += int64(n)
	}
	return j.size, nil
}

// written returns the offset behind the last byte from end on that is not zero.
// All of the reserved space is looked at, since a loss of power may have left
// zeros, and lines behind them.
func (j *journal) written() (int64, error) {
	limit := j.end
	var buf [64 << 10]byte
	for at := j.end; at < j.size; {
		var err error
		if at, err = seekData(j.file, at); err != nil || at >= j.size {
			return limit, err
		}
		n, err := j.file.ReadAt(buf[:min(j.size-at, int64(len(buf)))], at)
		if err != nil {
			return 0, err
		}
		if text := bytes.TrimRight(buf[:n], "\x00"); len(text) > 0 {
			limit = at + int64(len(text))
		}
		at += int64(n)
	}
	return limit, nil
}

// assess decides about bytes from end on that are no line. If a later line was
// written when they were on the disk already, the disk has lost them, and that is
// an error. Else they are what a crash left of the last writes.
func (j *journal) assess(data []byte) error {
	begin := []byte(`{"n":`)
	for at := 0; at < len(data); {
		line, _, _ := bytes.Cut(data[at:], []byte("\n"))
		// Where a newline was lost, or zeros stand, a line may begin anywhere.
		for from := bytes.Index(line, begin); from >= 0; {
			if e, ok := parseLine(line[from:]); ok && e.durable > j.end {
				return fileErrorf(j.path, j.end, "it is damaged here, and sound again at byte %d; "+
					"put the directory back from a backup, or see docs/local-state.md", j.end+int64(at+from))
			}
			next := bytes.Index(line[from+1:], begin)
			if next < 0 {
				break
			}
			from += 1 + next
		}
		at += len(line) + 1
	}
	return nil
}

// cut saves the torn end of n bytes to the file called aside, and cuts it off.
func (j *journal) cut(n int64, aside string) error {
	torn := make([]byte, n+1)
	if _, err := j.file.ReadAt(torn[:n], j.end); err != nil {
		return err
	}
	torn[n] = '\n'
	f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_APPEND, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(torn)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return j.cutOff()
}

// append writes the lines of buf, n of them, at the end. On an error none of them
// is there.
func (j *journal) append(buf []byte, n int64) error {
	if err := j.makeRoom(int64(len(buf))); err != nil {
		return err
	}
	j.fill(j.end + int64(len(buf)))
	written, err := j.file.WriteAt(buf, j.end)
	if err == nil && written != len(buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		if terr := j.cutOff(); terr != nil {
			return &poison{fmt.Errorf("%w, and it could not be undone: %w", err, terr)}
		}
		return err
	}
	j.end += int64(len(buf))
	j.size = max(j.size, j.end)
	j.next += n
	j.mu.Lock()
	j.appended = j.end
	j.mu.Unlock()
	return nil
}

// add appends one event.
func (j *journal) add(e event) error {
	e.n, e.durable = j.next, j.onDisk()
	line, err := appendLine(nil, e)
	if err != nil {
		return err
	}
	return j.append(line, 1)
}

// sync makes all that was appended durable.
func (j *journal) sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.syncTo(j.end)
}

// hold keeps the file open for a step that was written, until finish. It is called
// under the lock, so that nobody closes the journal before.
func (j *journal) hold() {
	j.mu.Lock()
	j.waiting++
	j.mu.Unlock()
}

// finish makes what was written up to end durable, for a step that has hold of the
// journal. Steps that wait at the same time share a sync.
func (j *journal) finish(end int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.syncTo(end)
	if j.waiting--; j.waiting == 0 && j.closing {
		j.file.Close()
	}
	return err
}

// syncTo waits until all up to end is durable, and makes it so unless another does.
// It is called under mu.
func (j *journal) syncTo(end int64) error {
	for j.durable < end {
		switch {
		case j.failed != nil:
			// What a failed sync left in memory may never reach the disk and look as if
			// it had, so nothing can be trusted until the files are read again.
			return &poison{j.failed}
		case j.syncing:
			j.synced.Wait()
		default:
			j.syncing = true
			written := max(j.appended, end)
			j.mu.Unlock()
			err := syncData(j.file)
			j.mu.Lock()
			j.syncing = false
			if j.failed = err; err == nil {
				j.durable = max(j.durable, written)
			}
			j.synced.Broadcast()
		}
	}
	return nil
}

// close closes the file, now or when the last step that has hold of it is durable.
func (j *journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closing = true; j.waiting == 0 {
		j.file.Close()
	}
}

// makeRoom reserves space for n more bytes. Where that is all that fits, it
// reserves no more.
func (j *journal) makeRoom(n int64) error {
	if j.plain || j.end+n <= j.size {
		return nil
	}
	var err error
	for _, spare := range []int64{min(max(growBy*j.end, leastReserve), mostReserve), 0} {
		size := j.end + n + spare
		var able bool
		if able, err = reserve(j.file, j.size, size); err == nil {
			j.plain = !able
			if able {
				j.size = size
			}
			return nil
		}
		// What there was of it is given back.
		if cerr := j.cutOff(); cerr != nil {
			return &poison{cerr}
		}
	}
	return err
}

// zeros are what fill writes.
var zeros [fillBy]byte

// fill writes zeros into the reserved space from at on, where they stand already for
// whoever reads it. If that cannot be done syncs take longer, and that is all.
func (j *journal) fill(at int64) {
	if j.appends++; j.appends < fillFrom || j.plain || at <= j.filled {
		return
	}
	if n := min(j.size-at, fillBy); n > 0 {
		_, _ = j.file.WriteAt(zeros[:n], at)
	}
	j.filled = at + fillBy
}

// trim gives back the reserved space.
func (j *journal) trim() error {
	if j.size == j.end {
		return nil
	}
	return j.cutOff()
}

// cutOff cuts off whatever stands behind end.
func (j *journal) cutOff() error {
	if err := j.file.Truncate(j.end); err != nil {
		return err
	}
	j.size = j.end
	return nil
}

// poison is an error after which the store answers nothing else.
type poison struct{ err error }

func (p *poison) Error() string { return p.err.Error() }
func (p *poison) Unwrap() error { return p.err }
