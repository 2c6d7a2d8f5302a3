package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// kind is what a node is, in the words of the problems.
type kind string

const (
	isMapping kind = "a mapping"
	isList    kind = "a list"
	isText    kind = "a text"
	isNumber  kind = "a number"
	isBool    kind = "true or false"
	isNull    kind = "empty"
	// isDuration is what is wanted of a text; no node is of this kind.
	isDuration kind = "a duration like 30m, 12h or 7d"
)

// node is one value of the document, with aliases and merge keys resolved and the
// environment expanded. An aliased node is shared and never changed.
type node struct {
	place
	kind kind
	// raw is a scalar as it stands in the file, less its quotes.
	raw string
	// text is raw with the environment expanded. It may be secret.
	text string
	// expanded: text holds something of the environment.
	expanded bool
	// bad is the problem of a scalar that could not be expanded, which has no text.
	bad *Problem
	// fields are a mapping's, in the order of the file.
	fields []field
	// items are a list's.
	items []*node
	// size is how many nodes there are below, aliased ones each time.
	size int
}

// field is one key of a mapping and its value.
type field struct {
	place
	key   string
	value *node
}

// get returns the value of a mapping's key, or nil.
func (n *node) get(key string) *node {
	for _, f := range n.fields {
		if f.key == key {
			return f.value
		}
	}
	return nil
}

// maxNodes is how many values a document may have once its aliases are followed.
// A document of the greatest size without aliases has fewer.
const maxNodes = 1 << 20

// maxMerged is how many fields merge keys may add to a document.
const maxMerged = 1 << 16

// document parses the file's one YAML document. It returns nil, with the problems
// noted, if it is none.
func (p *parser) document(data []byte) *node {
	if at, what := unreadable(data); what != "" {
		p.note(p.at(at.line, at.column).problem("%s", what))
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		p.syntax(err)
		return nil
	}
	var first, second yaml.Node
	if err := loader.Load(&first); err != nil && !errors.Is(err, io.EOF) {
		p.syntax(err)
		return nil
	}
	if len(first.Content) == 0 || first.Content[0].ShortTag() == "!!null" {
		p.note(p.at(1, 1).problem("there is nothing in the file; `bot init` writes one to begin with"))
		return nil
	}
	switch err := loader.Load(&second); {
	case err == nil:
		p.note(p.at(second.Line, second.Column).problem("a second document begins here; the config is one document"))
	case !errors.Is(err, io.EOF):
		p.syntax(err)
	}
	t := tree{p: p, done: make(map[*yaml.Node]*node)}
	return t.node(first.Content[0])
}

// syntax notes an error of the YAML parser. Of its message only the parts are
// used that never quote the file.
func (p *parser) syntax(err error) {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		p.note(p.at(1, 1).problem("not YAML"))
		return
	}
	what := "not YAML: " + e.Message
	switch {
	case e.Stage == "composer":
		what = "this alias (*name) has no anchor (&name) before it; put a text that begins with * in quotes"
	case e.Message == "found incompatible YAML document":
		// The parser takes no other version than 1.1 here, and reads 1.2 all the same.
		what = "leave the line with %YAML out"
	case e.ContextMsg != "" && e.ContextMark.Line != e.Mark.Line:
		what = fmt.Sprintf("not YAML: %s that begins on line %d: %s", e.ContextMsg, e.ContextMark.Line, e.Message)
	case e.ContextMsg != "":
		what = fmt.Sprintf("not YAML: %s: %s", e.ContextMsg, e.Message)
	}
	p.note(p.at(e.Mark.Line, e.Mark.Column).problem("%s", what))
}

// unreadable finds the first character that no YAML file may hold, and says what
// it is.
func unreadable(data []byte) (at place, what string) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return place{line: 1, column: 1}, "the file is UTF-16; save it as UTF-8"
	}
	at = place{line: 1, column: 1}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return at, "not UTF-8"
		case !printable(r) && (r != '\ufeff' || i > 0):
			return at, "a control character, which has no place in a config"
		}
		i += size
		switch {
		case r == '\ufeff':
		case r == '\n', r == '\r' && !bytes.HasPrefix(data[i:], []byte("\n")):
			at.line, at.column = at.line+1, 1
		default:
			at.column++
		}
	}
	return place{}, ""
}

// printable reports whether YAML 1.2 (§5.1) lets a document hold r as it is. A
// byte order mark is no part of a document.
func printable(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r', r == 0x85:
		return true
	case r < ' ', r >= 0x7f && r < 0xa0, r == '\ufeff', r == 0xfffe, r == 0xffff:
		return false
	default:
		return true
	}
}

// tree makes nodes of what the YAML parser returned. Each is made once, however
// many aliases it has, so that aliases of aliases cost nothing.
type tree struct {
	p    *parser
	done map[*yaml.Node]*node
	// merged counts the fields that merge keys added.
	merged int
	// refused: there are too many values, and a problem says so.
	refused bool
}

func (t *tree) tooMany(at place) {
	if !t.refused {
		t.p.note(at.problem("the aliases here stand for too many values"))
	}
	t.refused = true
}

// node returns the node, or nil with the problem noted.
func (t *tree) node(y *yaml.Node) *node {
	if y.Kind == yaml.AliasNode {
		if n, ok := t.done[y.Alias]; ok && n == nil {
			t.p.note(t.p.at(y.Line, y.Column).problem("this alias is part of what it stands for"))
			return nil
		}
		return t.node(y.Alias)
	}
	if n, ok := t.done[y]; ok {
		return n
	}
	t.done[y] = nil
	n := &node{place: t.p.at(y.Line, y.Column), size: 1}
	switch y.Kind {
	case yaml.MappingNode:
		n.kind = isMapping
		t.mapping(n, y)
	case yaml.SequenceNode:
		n.kind = isList
		t.list(n, y)
	default:
		t.scalar(n, y)
	}
	if y.Style&yaml.TaggedStyle != 0 && y.ShortTag() != "!!str" {
		problem := n.problem("a tag (!) is of no use here; put a text that begins with ! in quotes")
		t.p.note(problem)
		n.bad = &problem
	}
	if n.size > maxNodes {
		t.tooMany(n.place)
		n.fields, n.items, n.size = nil, nil, 1
	}
	t.done[y] = n
	return n
}

func (t *tree) list(n *node, y *yaml.Node) {
	for _, c := range y.Content {
		if item := t.node(c); item != nil {
			n.items = append(n.items, item)
			n.grow(item)
		}
	}
}

func (n *node) grow(part *node) { n.size = min(n.size+part.size, math.MaxInt32) }

// mapping reads the keys of a mapping, then those that merge keys (<<) add.
func (t *tree) mapping(n *node, y *yaml.Node) {
	seen := make(map[string]place)
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		at := t.p.at(k.Line, k.Column)
		switch {
		case k.Kind != yaml.ScalarNode:
			t.p.note(at.problem("a key is a name; put a text that holds { or [ in quotes"))
			continue
		case k.ShortTag() == "!!merge":
			continue
		}
		if first, ok := seen[k.Value]; ok {
			t.p.note(at.problem("key %s is here twice; first on line %d", keyName(k.Value), first.line))
			continue
		}
		seen[k.Value] = at
		if value := t.node(y.Content[i+1]); value != nil {
			n.fields = append(n.fields, field{place: at, key: k.Value, value: value})
			n.grow(value)
		}
	}
	for i := 0; i+1 < len(y.Content); i += 2 {
		if k := y.Content[i]; k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" {
			t.merge(n, seen, y.Content[i+1])
		}
	}
}

// merge adds the fields of a merge key's value, one mapping or a list of them,
// that are not seen yet.
func (t *tree) merge(n *node, seen map[string]place, y *yaml.Node) {
	from := t.node(y)
	if from == nil {
		return
	}
	parts := []*node{from}
	if from.kind == isList {
		parts = from.items
	}
	for _, part := range parts {
		if part.kind != isMapping {
			t.p.note(t.p.at(y.Line, y.Column).problem("<< takes the keys of a mapping, or of a list of mappings"))
			return
		}
		for _, f := range part.fields {
			if t.merged++; t.merged > maxMerged {
				t.tooMany(n.place)
				return
			}
			if _, ok := seen[f.key]; !ok {
				seen[f.key] = f.place
				n.fields = append(n.fields, f)
				n.grow(f.value)
			}
		}
	}
}

func (t *tree) scalar(n *node, y *yaml.Node) {
	n.raw, n.text = y.Value, y.Value
	switch y.ShortTag() {
	case "!!null":
		n.kind = isNull
	case "!!bool":
		n.kind = isBool
	case "!!int", "!!float":
		n.kind = isNumber
	default:
		n.kind = isText
		t.p.expand(n)
	}
}
