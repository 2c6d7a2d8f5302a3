package jsonstore

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A line of the journal is one event:
//
//	{"n":SEQ,"b":DURABLE,…,"crc":"xxxxxxxx"}
//
// SEQ counts up by one from the head's 0. DURABLE is how many bytes of the journal
// were known to be on the disk when the line was written: a line that cannot be
// read below that number of a later line is damage, one above it a torn end. The
// checksum is CRC-32C (RFC 3720 §12.1) over everything before its comma.
type event struct {
	kind eventKind
	// n and durable are SEQ and DURABLE.
	n, durable int64
	// over: the record takes the place of one that posted.json may still have.
	over bool
	// name is the ID of an entry that is forgotten, or the name of a small record.
	name string
	// value is the record. Nil where a small record is forgotten.
	value []byte
	// base is what the events stand upon.
	base base
}

type eventKind int

const (
	// anEntry: value is an entry's new record.
	anEntry eventKind = iota
	// aForgotten: the entry called name is forgotten.
	aForgotten
	// aBook: value is the new small record called name.
	aBook
	// aBase: the two arrays were seen to stand as base says.
	aBase
	// anEnd: this journal is about to be replaced by another. Whoever has it open is
	// to look for that one, and goes on with this if there is none.
	anEnd
)

// base says how the two arrays were left by whoever last wrote, or checked, both:
// with no entry in both of them, and nothing in either that could not be read.
// While they stand so they need not be checked against each other again.
type base struct {
	Posted stand `json:"posted"`
	Queue  stand `json:"queue"`
	// Marks tell an edit of theirs from another file.
	Marks marks `json:"marks,omitzero"`
}

// stands reports whether the two arrays stand in both as they do in the other.
func (b base) stands(other base) bool { return b.Posted == other.Posted && b.Queue == other.Queue }

// stand is what tells one version of a file from another: bytes, and nanoseconds
// since 1970.
type stand struct {
	Size  int64 `json:"size"`
	Mtime int64 `json:"mtime"`
}

const (
	tailLen = len(`,"crc":"00000000"}`)
	// maxLine bounds what one event may take, to tell a line from garbage.
	maxLine = 64 << 20
)

// checksum is CRC-32C, whose table the standard library makes only once.
func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// appendLine appends the event's line, with its newline, to buf.
func appendLine(buf []byte, e event) ([]byte, error) {
	start := len(buf)
	buf = append(buf, `{"n":`...)
	buf = strconv.AppendInt(buf, e.n, 10)
	buf = append(buf, `,"b":`...)
	buf = strconv.AppendInt(buf, e.durable, 10)
	if e.over {
		buf = append(buf, `,"over":true`...)
	}
	var err error
	switch e.kind {
	case anEntry:
		buf = append(buf, `,"entry":`...)
		buf = append(buf, e.value...)
	case aForgotten:
		buf = append(buf, `,"forget":`...)
		buf, err = jsontext.AppendQuote(buf, e.name)
	case aBook:
		buf = append(buf, `,"book":`...)
		if buf, err = jsontext.AppendQuote(buf, e.name); err == nil {
			buf = append(buf, `,"value":`...)
			if e.value == nil {
				buf = append(buf, "null"...)
			}
			buf = append(buf, e.value...)
		}
	case aBase:
		buf = append(buf, `,"base":`...)
		var b []byte
		b, err = json.Marshal(e.base)
		buf = append(buf, b...)
	case anEnd:
		buf = append(buf, `,"end":true`...)
	}
	return seal(buf, start), err
}

// seal ends the line that starts at start with its checksum.
func seal(buf []byte, start int) []byte {
	return append(appendTail(buf, checksum(buf[start:])), '\n')
}

func appendTail(buf []byte, sum uint32) []byte {
	buf = append(buf, `,"crc":"`...)
	buf = hex.AppendEncode(buf, binary.BigEndian.AppendUint32(nil, sum))
	return append(buf, `"}`...)
}

// unseal returns what a line, without its newline, has before its checksum, and
// whether that is right.
func unseal(line []byte) ([]byte, bool) {
	if len(line) < tailLen || len(line) > maxLine {
		return nil, false
	}
	text := line[:len(line)-tailLen]
	var tail [tailLen]byte
	return text, string(appendTail(tail[:0], checksum(text))) == string(line[len(text):])
}

// parseLine reads one line without its newline. The event's value is a part of it.
func parseLine(line []byte) (event, bool) {
	text, ok := unseal(line)
	if !ok {
		return event{}, false
	}
	var e event
	if e.n, text, ok = cutInt(text, `{"n":`); !ok {
		return e, false
	}
	if e.durable, text, ok = cutInt(text, `,"b":`); !ok {
		return e, false
	}
	text, e.over = bytes.CutPrefix(text, []byte(`,"over":true`))
	if value, ok := bytes.CutPrefix(text, []byte(`,"entry":`)); ok {
		e.kind, e.value = anEntry, value
		return e, true
	}
	if value, ok := bytes.CutPrefix(text, []byte(`,"forget":`)); ok {
		e.kind = aForgotten
		return e, json.Unmarshal(value, &e.name) == nil
	}
	if value, ok := bytes.CutPrefix(text, []byte(`,"base":`)); ok {
		e.kind = aBase
		return e, json.Unmarshal(value, &e.base) == nil
	}
	if string(text) == `,"end":true` {
		e.kind = anEnd
		return e, true
	}
	return e, parseBook(text, &e)
}

func parseBook(text []byte, e *event) bool {
	text, ok := bytes.CutPrefix(text, []byte(`,"book":`))
	if !ok {
		return false
	}
	name, value, ok := bytes.Cut(text, []byte(`,"value":`))
	if !ok || json.Unmarshal(name, &e.name) != nil {
		return false
	}
	if e.kind = aBook; string(value) != "null" {
		e.value = value
	}
	return true
}

// cutInt takes prefix and the whole number after it from the front of text.
func cutInt(text []byte, prefix string) (n int64, rest []byte, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte(prefix))
	if !ok {
		return 0, nil, false
	}
	digits := 0
	for digits < len(text) && digits < 18 && text[digits] >= '0' && text[digits] <= '9' {
		n = n*10 + int64(text[digits]-'0')
		digits++
	}
	return n, text[digits:], digits > 0
}

// head is the journal's first line.
type head struct {
	N     int    `json:"n"`
	Fleet string `json:"fleet"`
	Head  int    `json:"head"` // version
	Base  base   `json:"base"`
	// First: it was made while the directory was taken over, before ledger.json.
	First bool `json:"first,omitzero"`
}

// appendHead appends the first line of a journal.
func appendHead(buf []byte, h head) ([]byte, error) {
	start := len(buf)
	h.Head = version
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	return seal(append(buf, line[:len(line)-1]...), start), nil
}

func parseHead(line []byte) (head, bool) {
	var h head
	text, ok := unseal(line)
	if !ok || json.Unmarshal(append(bytes.Clone(text), '}'), &h) != nil {
		return h, false
	}
	return h, h.N == 0 && h.Head >= 1 && h.Fleet != ""
}
