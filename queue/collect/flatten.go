package collect

import (
	"bytes"
	"context"
	"fmt"
	"slices"
)

// Where a feed has its items in another place than its format does, in a list of their
// own, in a second channel, under the name of the other format, or behind an item that
// is not closed, the parser passes over them and finds no fault. So they are counted in
// the document too.

// withAllItems returns a feed with the items that the parser passed over, read from a
// document that has them all side by side. Those that cannot be read so are counted as
// dropped.
func withAllItems(ctx context.Context, f *feed, body []byte, limits Limits) (*feed, error) {
	if len(f.Items) == 0 && !aboutItself().Match(body) {
		root, _ := rootTag(body)
		name := body[root+1:]
		return nil, &notFeedError{what: fmt.Sprintf("an empty <%s>", plainText(string(name[:nameLength(name)]), maxShown))}
	}
	if !mayHoldMore(body, len(f.Items)) {
		return f, nil
	}
	from, to := rootTag(body)
	if from < 0 {
		return f, nil
	}
	// An Atom feed may have the items of RSS in place of its own.
	both := f.FeedType != "atom" || len(f.Items) == 0
	pieces := itemPieces(body[to:], both)
	if len(pieces) <= len(f.Items) {
		return f, nil
	}
	if err := checkCount(len(pieces), limits); err != nil {
		return nil, err
	}
	if flat, err := parseXML(ctx, flattened(body[from:to], pieces, f.FeedType), limits); err == nil && flat.better(f) {
		flat.Authors = f.Authors
		f = flat
	}
	f.passedOver = max(len(pieces)-len(f.Items), 0)
	return f, nil
}

// aboutItself finds what a feed says of itself, if it is one.
var aboutItself = pattern(`(?i)<([a-z0-9_.-]+:)?(channel|title|updated|modified|id|link|entry|item)[\s/>]`)

// mayHoldMore reports whether there may be more items than n, at a glance.
func mayHoldMore(body []byte, n int) bool {
	return bytes.Count(body, []byte("<item"))+bytes.Count(body, []byte("<entry")) > n
}

// better reports whether a feed has more items than another, each with an address.
func (f *feed) better(than *feed) bool {
	for i := range f.Items {
		if f.link(i, nil) == "" {
			return false
		}
	}
	return len(f.Items) > len(than.Items)
}

// itemPieces returns the items of a document behind its root's tag, each from its
// opening tag to its closing one, or to the next item. both: those of RSS and of Atom,
// not of Atom alone.
func itemPieces(body []byte, both bool) [][]byte {
	var pieces [][]byte
	open := -1
	end := func(at int) {
		if open >= 0 {
			pieces = append(pieces, body[open:at])
		}
		open = -1
	}
	for at := 0; at < len(body); {
		next := bytes.IndexByte(body[at:], '<')
		if next < 0 {
			break
		}
		at += next
		length, name, closing := markupAt(body[at:])
		if length < 0 {
			break
		}
		if isItem(name, both) {
			switch {
			case closing:
				end(at + length)
			case body[at+length-2] != '/':
				end(at)
				open = at
			}
		}
		at += length
	}
	end(len(body))
	return pieces
}

// markupAt returns how long the markup is that a text begins with, and of a tag its
// name. Negative: it does not end.
func markupAt(text []byte) (length int, name []byte, closing bool) {
	switch {
	case bytes.HasPrefix(text, []byte("<!--")):
		return after(text, "-->"), nil, false
	case bytes.HasPrefix(text, []byte(sectionStart)):
		return after(text, sectionEnd), nil, false
	case bytes.HasPrefix(text, []byte("<?")), bytes.HasPrefix(text, []byte("<!")):
		return after(text, ">"), nil, false
	}
	name = text[1:]
	if closing = bytes.HasPrefix(name, []byte("/")); closing {
		name = name[1:]
	}
	name = name[:nameLength(name)]
	if len(name) == 0 {
		return 1, nil, false
	}
	return tagLength(text), name, closing
}

// isItem reports whether an element is an item, of RSS or of Atom if it may be of both.
func isItem(name []byte, both bool) bool {
	kind := lower(name)
	return kind == "entry" || kind == "item" && both
}

// flattened returns a document that has nothing but items. root is its root's tag.
func flattened(root []byte, pieces [][]byte, format string) []byte {
	out := slices.Clone(root)
	name := root[1 : 1+nameLength(root[1:])]
	inChannel := lower(name) == "rss"
	if inChannel {
		out = append(out, "<channel>"...)
	}
	item := "item"
	if format == "atom" {
		item = "entry"
	}
	for _, piece := range pieces {
		tag := tagLength(piece)
		own := 1 + nameLength(piece[1:])
		out = append(append(out, '<'), item...)
		out = append(out, piece[own:tag]...)
		out = append(out, withoutStrayTags(withoutClosing(piece[tag:]))...)
		out = append(append(append(out, "</"...), item...), '>')
	}
	if inChannel {
		out = append(out, "</channel>"...)
	}
	return append(append(append(out, "</"...), name...), '>')
}

// withoutClosing returns what is in an item that may be closed.
func withoutClosing(inner []byte) []byte {
	last := bytes.LastIndex(inner, []byte("</"))
	if last < 0 || !isItem(inner[last+2:last+2+nameLength(inner[last+2:])], true) {
		return inner
	}
	return inner[:last]
}

// withoutStrayTags returns the content of an element without closing tags at its end
// that close nothing in it, of which there may be a few.
func withoutStrayTags(inner []byte) []byte {
	const few = 4
	for range few {
		last := bytes.LastIndex(inner, []byte("</"))
		if last < 0 {
			return inner
		}
		name := inner[last+2:]
		name = name[:nameLength(name)]
		closing := bytes.Count(inner, slices.Concat([]byte("</"), name, []byte(">")))
		if bytes.Count(inner, slices.Concat([]byte("<"), name)) >= closing {
			return inner
		}
		inner = inner[:last]
	}
	return inner
}
