package jsonstore

import (
	"bytes"
	"encoding/binary"

	"bot/dedupe"
	"bot/queue"

	"github.com/go-json-experiment/json/jsontext"
)

// matcher tells which records of posted.json are wanted. For nearly all of them it
// has to say quickly that they are not.
type matcher struct {
	// ids says of each whether its whole record is wanted.
	ids map[string]bool
	// filter has a bit set for each ID: most that are not wanted are told by it.
	filter [1024]uint64
	// urls are the canonical addresses of the wants, for records without an ID, and
	// hosts their hosts.
	urls  map[string]bool
	hosts map[string]bool
	// guids are those of the wants that are articles, whatever their address.
	guids *guidMatcher
	// blind: of some want the address is not known, so that of each record without
	// an ID the key has to be made.
	blind bool
}

func newMatcher(wants []want) *matcher {
	m := &matcher{
		ids:   make(map[string]bool, len(wants)),
		urls:  make(map[string]bool, len(wants)),
		hosts: make(map[string]bool),
	}
	for _, w := range wants {
		if w.origin != nil {
			if m.guids == nil {
				m.guids = newGUIDMatcher(len(wants))
			}
			m.guids.add(*w.origin)
			continue
		}
		m.ids[w.id] = m.ids[w.id] || w.whole
		bit := filterBit([]byte(w.id))
		m.filter[bit>>6] |= 1 << (bit & 63)
		if w.key.URL == "" {
			m.blind = true
			continue
		}
		m.urls[w.key.URL] = true
		if host, ok := appendHost(nil, []byte(w.key.URL)); ok {
			m.hosts[string(host)] = true
		}
	}
	return m
}

// filterBit spreads IDs over the bits of a filter. They are hashes, so that their
// beginnings differ.
func filterBit(id []byte) uint64 {
	if len(id) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(id) * 0x9e3779b97f4a7c15 >> 48
}

// finder looks for a matcher's wants in a run of records.
type finder struct {
	*matcher
	found []found
	// host and url are space to make these in.
	host, url []byte
}

// found is a record that is wanted: for its ID, or for its article. One that is
// wanted for both is found twice.
type found struct {
	id string
	at span
	*hit
	origin  dedupe.Origin
	article *article
}

// visit notes a record if it is wanted.
func (f *finder) visit(r *record) error {
	if !r.slow && !f.mayWant(r) {
		return nil
	}
	e, err := queue.ParseRecord(jsontext.Value(r.raw), queue.InPosted)
	if err != nil {
		return errDoubt
	}
	f.note(e, r.raw, r.at)
	return nil
}

func (f *finder) note(e queue.Entry, raw []byte, at span) {
	if whole, wanted := f.ids[e.ID]; wanted {
		h := &hit{known: knownOf(e)}
		if whole {
			h.raw = bytes.Clone(raw)
		}
		f.found = append(f.found, found{id: e.ID, at: at, hit: h})
	}
	if f.guids == nil {
		return
	}
	if o := e.Origin(); f.guids.origins[o] {
		f.found = append(f.found, found{at: at, origin: o, article: &article{queue.KnownAs(e, true), e.Article.Published}})
	}
}

// mayWant reports whether a record's key may be one that is wanted. It is false
// only for records of which queue.ParseRecord would make another.
func (f *finder) mayWant(r *record) bool {
	if f.guids != nil && f.guids.mayWant(r.guid) {
		return true
	}
	if isFingerprint(r.webhook) && len(r.id) > 0 {
		bit := filterBit(r.id)
		if f.filter[bit>>6]&(1<<(bit&63)) == 0 {
			return false
		}
		_, wanted := f.ids[string(r.id)]
		return wanted
	}
	if f.blind || len(r.keyURL) > 0 {
		return true
	}
	if len(f.urls) == 0 {
		return false
	}
	var plain bool
	if f.host, plain = appendHost(f.host[:0], r.url); plain {
		if !f.hosts[string(f.host)] {
			return false
		}
		if f.url, plain = appendCanonical(f.url[:0], r.url, f.host); plain {
			return f.urls[string(f.url)]
		}
	}
	url, err := dedupe.Canonical(string(r.url))
	if err != nil {
		url = string(r.url)
	}
	return f.urls[url]
}

// isFingerprint is dedupe.IsFingerprint.
func isFingerprint(b []byte) bool {
	const size = len(dedupe.FingerprintPrefix) + 32
	if len(b) != size || string(b[:len(dedupe.FingerprintPrefix)]) != dedupe.FingerprintPrefix {
		return false
	}
	for _, c := range b[len(dedupe.FingerprintPrefix):] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// appendHost appends the host that dedupe.Canonical would give an address, and
// reports whether it can be told at a glance: an http or https address whose host
// is plain ASCII, with nothing about it.
func appendHost(out, url []byte) ([]byte, bool) {
	rest, ok := cutScheme(url)
	if !ok {
		return out, false
	}
	start, label := len(out), false
	for _, c := range rest {
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_':
			label = true
		case 'A' <= c && c <= 'Z':
			c |= 0x20
			label = true
		case c == '.' && label:
			label = false
		case c == '/' || c == '?' || c == '#':
			return withoutWWW(out, start), label
		default:
			return out, false
		}
		out = append(out, c)
	}
	return withoutWWW(out, start), label
}

// cutScheme takes http:// or https:// off an address.
func cutScheme(url []byte) ([]byte, bool) {
	if rest, ok := bytes.CutPrefix(url, []byte("https://")); ok {
		return rest, true
	}
	return bytes.CutPrefix(url, []byte("http://"))
}

// withoutWWW drops leading www. labels from the host that begins at start.
func withoutWWW(out []byte, start int) []byte {
	for {
		rest, ok := bytes.CutPrefix(out[start:], []byte("www."))
		if !ok || bytes.IndexByte(rest, '.') < 0 {
			return out
		}
		out = append(out[:start], rest...)
	}
}

// appendCanonical appends what dedupe.Canonical would make of an address with this
// host, and reports whether that can be told at a glance: there is only a path,
// and nothing in it that has another spelling.
func appendCanonical(out, url, host []byte) ([]byte, bool) {
	rest, ok := cutScheme(url)
	if !ok || len(url) > dedupe.MaxURL {
		return out, false
	}
	out = append(append(out, "https://"...), host...)
	path := bytes.IndexAny(rest, "/?#")
	if path < 0 || rest[path] != '/' {
		return out, false
	}
	start := len(out)
	before := byte(0)
	for _, c := range rest[path:] {
		switch {
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '~':
		case c == '/':
		case c == '.' && before != '/':
		default:
			return out, false
		}
		out = append(out, c)
		before = c
	}
	for len(out) > start+1 && out[len(out)-1] == '/' {
		out = out[:len(out)-1]
	}
	return out, true
}
