package jsonstore

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"bot/dedupe"
	"bot/queue"
)

// identity is one version of a file. While its inode is held open by somebody its
// number is not given to another.
type identity struct {
	ino   uint64
	size  int64
	mtime int64
}

func (i identity) stand() stand { return stand{Size: i.size, Mtime: i.mtime} }

// want is an entry that is looked for in posted.json.
type want struct {
	id string
	// key finds records that have no ID. Zero where it is not known; every such
	// record's key has to be made then.
	key dedupe.Key
	// origin is set where no entry is looked for but an article, whatever its address.
	// There is no ID then.
	origin *dedupe.Origin
	// whole asks for the record itself.
	whole bool
}

// hit is what posted.json has of an entry.
type hit struct {
	// raw is the record. Nil where nobody asked for it.
	raw   []byte
	known queue.Known
}

// article is an entry of posted.json that is known by its origin.
type article struct {
	known     queue.Known
	published time.Time
}

// history is what is known of one version of posted.json, which is never loaded:
// the answers of the scans made so far.
type history struct {
	id identity
	// file is held open so that id stays unique.
	file *os.File
	// answers has a hit for each ID that was looked for, nil for those that are not
	// there.
	answers map[string]*hit
	// articles has the entries of each origin that was looked for, nil for those that
	// have none.
	articles map[dedupe.Origin][]article
	// checked: some scan has read this version to its end.
	checked bool
}

// newHistory returns what is known before anything was looked for, with room for the
// answers to so many wants.
func newHistory(id identity, file *os.File, room int) *history {
	return &history{id: id, file: file, answers: make(map[string]*hit, room), articles: make(map[dedupe.Origin][]article)}
}

func (h *history) close() {
	if h != nil && h.file != nil {
		h.file.Close()
	}
}

// lacking returns those of wants that were not looked for yet.
func (h *history) lacking(wants []want) []want {
	if len(h.answers)+len(h.articles) == 0 {
		return slices.Clip(wants)
	}
	var lack []want
	for _, w := range wants {
		if !h.knows(w) {
			lack = append(lack, w)
		}
	}
	return lack
}

// knows reports whether w was looked for.
func (h *history) knows(w want) bool {
	if w.origin != nil {
		_, ok := h.articles[*w.origin]
		return ok
	}
	hit, ok := h.answers[w.id]
	return ok && (hit == nil || hit.raw != nil || !w.whole)
}

// remembered is how many answers are kept of searches that are over. A run over many
// sources looks for all they list, a part at a time.
const remembered = 8 << 10

// add takes in what another search found in the same version. Of what is known already,
// no more than needed stays if that gets to be a lot.
func (h *history) add(found *history, needed func() []want) {
	if len(h.answers)+len(found.answers) > remembered {
		h.keep(needed())
	}
	if len(h.answers) == 0 {
		h.answers = found.answers
	} else {
		maps.Copy(h.answers, found.answers)
	}
	if len(h.articles) == 0 {
		h.articles = found.articles
	} else {
		maps.Copy(h.articles, found.articles)
	}
	h.checked = h.checked || found.checked
}

// keep forgets all answers but those to wants.
func (h *history) keep(wants []want) {
	all := *h
	h.answers, h.articles = make(map[string]*hit), make(map[dedupe.Origin][]article)
	for _, w := range wants {
		switch {
		case !all.knows(w):
		case w.origin != nil:
			h.articles[*w.origin] = all.articles[*w.origin]
		default:
			h.answers[w.id] = all.answers[w.id]
		}
	}
}

// scanHistory looks for wants in posted.json at path as it stands now.
func scanHistory(ctx context.Context, path string, wants []want) (*history, error) {
	f, err := openState(path)
	if err != nil {
		return nil, err
	}
	h, err := scanOpen(ctx, f, path, wants)
	if err != nil {
		f.Close()
	}
	return h, err
}

func scanOpen(ctx context.Context, f *os.File, path string, wants []want) (*history, error) {
	id, err := statOpen(f)
	if err != nil {
		return nil, err
	}
	h := newHistory(id, f, len(wants))
	h.checked = true
	for _, w := range wants {
		if w.origin != nil {
			h.articles[*w.origin] = nil
			continue
		}
		h.answers[w.id] = nil
	}
	all, err := findRecords(ctx, f, id.size, path, newMatcher(wants))
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		switch {
		case one.article != nil:
			h.articles[one.origin] = append(h.articles[one.origin], *one.article)
		case h.answers[one.id] == nil:
			h.answers[one.id] = one.hit
		}
	}
	return h, nil
}

// regular returns an error if there is something at path that is no file: opening a
// pipe would wait for whoever writes to it, and a device may never end.
func regular(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fileErrorf(path, -1, "it is no regular file; put the ledger's own file in its place")
	}
	return nil
}

// openState opens a file of the ledger for reading.
func openState(path string) (*os.File, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing(path)
	}
	return f, err
}

// contextReader reads until ctx ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
