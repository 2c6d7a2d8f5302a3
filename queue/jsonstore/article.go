package jsonstore

import (
	"bytes"
	"encoding/binary"

	"bot/dedupe"
	"bot/queue"
)

// guidMatcher tells which records of posted.json are of wanted articles, whatever
// their address.
type guidMatcher struct {
	origins map[dedupe.Origin]bool
	guids   map[string]bool
	// filter has two bits set for the end of each guid: nearly all that are not wanted
	// are told by them.
	filter [1024]uint64
	// short: some guid is an address whose other spellings are so short that their
	// last bytes differ.
	short bool
}

func newGUIDMatcher(size int) *guidMatcher {
	return &guidMatcher{origins: make(map[dedupe.Origin]bool, size), guids: make(map[string]bool, size)}
}

func (m *guidMatcher) add(o dedupe.Origin) {
	m.origins[o] = true
	m.guids[o.GUID] = true
	one, two := guidBits([]byte(o.GUID))
	m.filter[one>>6] |= 1 << (one & 63)
	m.filter[two>>6] |= 1 << (two & 63)
	m.short = m.short || o.GUID[0] == 'h' && len(o.GUID) <= len("https://")+8
}

// mayWant reports whether a record with this guid, as it stands there, may be
// wanted.
func (m *guidMatcher) mayWant(guid []byte) bool {
	if len(guid) == 0 {
		return false
	}
	if first, last := guid[0], guid[len(guid)-1]; first <= ' ' || last <= ' ' {
		guid = bytes.TrimFunc(guid, func(r rune) bool { return r <= ' ' })
	}
	one, two := guidBits(guid)
	if m.filter[one>>6]&(1<<(one&63)) == 0 || m.filter[two>>6]&(1<<(two&63)) == 0 {
		if !m.short || len(guid) >= len("https://")+8 {
			return false
		}
	}
	return m.guids[dedupe.GUID(string(guid))]
}

// guidBits spreads guids over the bits of a filter by their last eight bytes. Those
// are the same in all spellings, but for the case of letters, unless the scheme of an
// address is among them.
func guidBits(guid []byte) (one, two uint64) {
	const lower = 0x2020202020202020
	var last uint64
	if n := len(guid); n >= 8 {
		last = binary.LittleEndian.Uint64(guid[n-8:])
	} else {
		for _, c := range guid {
			last = last<<8 | uint64(c)
		}
	}
	hash := (last | lower) * 0x9e3779b97f4a7c15
	return hash >> 48, hash >> 32 & 0xffff
}

// articles finds the entries of one article under whatever address, among what one
// step sees.
type articles struct {
	batch *batch
	// byOrigin has the wanted entries of the view, once they were looked for.
	byOrigin map[dedupe.Origin][]*queue.Entry
	// added are those with a guid that the step added before.
	added []*queue.Entry
}

// find tells what the ledger has of the nth candidate's article. The zero value:
// nothing.
func (a *articles) find(candidates []queue.Candidate, n int) queue.Known {
	c := candidates[n]
	if len(c.Origins) == 0 {
		return queue.Known{}
	}
	if a.byOrigin == nil {
		a.index(candidates)
	}
	published := c.Entry.Article.Published
	for _, o := range c.Origins {
		for _, e := range a.byOrigin[o] {
			if queue.Renamed(e.Article.Published, published) {
				return queue.KnownAs(*e, true)
			}
		}
		for _, old := range a.batch.s.history.articles[o] {
			// What the view has of it has been looked at.
			if a.batch.item(old.known.ID) == nil && queue.Renamed(old.published, published) {
				return old.known
			}
		}
	}
	return queue.Known{}
}

// index looks for the candidates' articles in the view.
func (a *articles) index(candidates []queue.Candidate) {
	a.byOrigin = make(map[dedupe.Origin][]*queue.Entry)
	for _, c := range candidates {
		for _, o := range c.Origins {
			a.byOrigin[o] = nil
		}
	}
	a.batch.each(func(i *item) {
		if i.live() {
			a.put(&i.entry)
		}
	})
	for _, e := range a.added {
		a.put(e)
	}
}

// add notes an entry that the step adds.
func (a *articles) add(e *queue.Entry) {
	switch {
	case e.Article.GUID == "":
	case a.byOrigin == nil:
		a.added = append(a.added, e)
	default:
		a.put(e)
	}
}

func (a *articles) put(e *queue.Entry) {
	if e.Article.GUID == "" {
		return
	}
	o := e.Origin()
	if all, wanted := a.byOrigin[o]; wanted {
		a.byOrigin[o] = append(all, e)
	}
}
