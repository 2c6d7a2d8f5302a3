package collect

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A feed's articles often stand in it whole, and of most of its elements nobody
// here reads anything. The feed parser is slow, and slowest with those. So it is
// given a document without them: cutXML leaves out the elements that lead to
// nothing in an article, and the namespaces that only they use, and puts a mark in
// the place of each text that may be long, which is read later, if at all.
//
// The parser's tokens are those of encoding/xml, which forgives much. cutXML reads
// only what leaves nothing to forgive, and has no opinion on anything else: such a
// document is read whole (see scanXML). That makes it safe to trust it on depth.

// cutting is what is left of a document.
type cutting struct {
	// document is what the parser is to read.
	document []byte
	// root is the local name of the root element in lower case, and abouts is what
	// each item says it is about, as scanXML has them.
	root   string
	abouts []string
	texts  texts
}

// mark begins and ends what stands for a text that was taken out, with its number
// between. It is a character that is set aside for private use, and a document that
// has it is read whole.
const mark = "\U0010fffd"

// shortText is the length below which a text is not worth taking out, where that
// changes nothing.
const shortText = 48

// role is what an element is to the cutter.
type role uint8

const (
	// dropped is left out with all that is in it.
	dropped role = iota
	// kept stays as it is, with all that is in it.
	kept
	// rootElement, list and article stay, and their children are looked at.
	rootElement
	list
	article
	// taken stays, and what is in it is taken out.
	taken
)

// wanted says which children of an element lead to something in an article, by
// their local names in lower case, in whatever vocabulary. Whatever is read of a feed
// has to be among them.
func wanted(parent role, root, name string) role {
	switch parent {
	case rootElement, list:
		switch {
		case name == "item" && root != "feed", name == "entry" && root == "feed":
			return article
		case name == "channel" && parent == rootElement && root != "feed":
			return list
		case name == "title", name == "author" && root == "feed":
			return kept
		}
	case article:
		switch name {
		case "title", "link", "origlink", "guid", "id", "description", "summary", "content", "encoded", "author", "creator",
			"pubdate", "published", "issued", "updated", "modified", "created", "date", "category", "subject", "keywords",
			"enclosure", "thumbnail", "group", "image":
			return kept
		}
	case kept, taken:
		return kept
	}
	return dropped
}

// openElement is what is known of an element that is not closed yet.
type openElement struct {
	// name is as it is written, with its prefix.
	name []byte
	role role
	// foreign: an element without a prefix belongs to another vocabulary here.
	foreign bool
	// namespaces, text and copied are counted as in scanXML.
	namespaces, text, copied int
	// base is what relative addresses stand to (XML Base). Nil: none.
	base *url.URL
	// inner is where a taken element's content begins, and markup what it is.
	inner  int
	markup markup
}

// cutter reads one document.
type cutter struct {
	src      []byte
	at       int
	maxDepth int
	out      []byte
	// from is where what is to be copied next begins. Negative: nothing is.
	from int
	open []openElement
	root string
	done bool
	// declared are the root's namespaces, and header is where its tag ends in out.
	declared []binding
	header   int
	abouts   []string
	texts    texts
}

// cutXML returns what is left of a document of XML in UTF-8, or false if it cannot
// be sure of it, also because the document exceeds a limit.
func cutXML(src []byte, maxDepth int) (*cutting, bool) {
	if bytes.Contains(src, []byte(mark)) || !goodReferences(src) ||
		bytes.Contains(src, []byte("\uffff")) || bytes.Contains(src, []byte("\ufffe")) {
		return nil, false
	}
	c := &cutter{src: src, maxDepth: maxDepth, out: make([]byte, 0, min(len(src), 64<<10)), open: make([]openElement, 1, 16)}
	for c.at < len(src) {
		if !c.token() {
			return nil, false
		}
	}
	if !c.done {
		return nil, false
	}
	return &cutting{document: c.finish(), root: c.root, abouts: c.abouts, texts: c.texts}, true
}

// token reads a text and the markup after it, and reports whether it is sure of them.
func (c *cutter) token() bool {
	text := c.src[c.at:]
	end := bytes.IndexByte(text, '<')
	if end < 0 {
		end = len(text)
	}
	if !c.chars(text[:end], false) {
		return false
	}
	if c.at += end; c.at == len(c.src) {
		return true
	}
	rest := c.src[c.at+1:]
	switch {
	case len(rest) == 0:
		return false
	case rest[0] == '/':
		return c.endTag()
	case rest[0] == '?':
		return c.instruction()
	case bytes.HasPrefix(rest, []byte("!--")):
		end := bytes.Index(rest[3:], []byte("--"))
		return end >= 0 && c.skip(1+3+end+2, ">")
	case bytes.HasPrefix(rest, []byte("![CDATA[")):
		const start = len("<![CDATA[")
		end := bytes.Index(c.src[c.at+start:], []byte("]]>"))
		return end >= 0 && c.chars(c.src[c.at+start:c.at+start+end], true) && c.skip(start+end, "]]>")
	case rest[0] == '!':
		return c.directive(rest)
	}
	return c.startTag()
}

// skip goes on behind what is expected at a distance, and reports whether it is there.
func (c *cutter) skip(distance int, expected string) bool {
	c.at += distance
	if !bytes.HasPrefix(c.src[c.at:], []byte(expected)) {
		return false
	}
	c.at += len(expected)
	return true
}

// chars counts a piece of text.
func (c *cutter) chars(text []byte, section bool) bool {
	if len(text) == 0 {
		return true
	}
	if len(c.open) == 1 {
		return !section && len(bytes.TrimLeft(text, " \t\r\n")) == 0
	}
	top := &c.open[len(c.open)-1]
	top.text += len(text)
	if top.copied += top.text; top.copied > maxCopied {
		return false
	}
	return section || !bytes.Contains(text, []byte("]]>"))
}

// directive passes a document type that declares nothing by itself.
func (c *cutter) directive(rest []byte) bool {
	end := bytes.IndexByte(rest, '>')
	if end < 0 || !bytes.HasPrefix(rest, []byte("!DOCTYPE")) || bytes.ContainsAny(rest[:end], "<[]") {
		return false
	}
	if bytes.Count(rest[:end], []byte(`"`))%2 != 0 || bytes.IndexByte(rest[:end], '\'') >= 0 {
		return false
	}
	c.at += 1 + end + 1
	return true
}

// instruction passes a processing instruction. That of XML itself may change the
// encoding in the middle of a document, so that it may only stand where it belongs.
func (c *cutter) instruction() bool {
	end := bytes.Index(c.src[c.at:], []byte("?>"))
	if end < 3 {
		return false
	}
	text := c.src[c.at+2 : c.at+end]
	target := text[:nameLength(text)]
	if after := text[len(target):]; len(after) > 0 && blanks(after) == 0 {
		return false
	}
	if bytes.EqualFold(target, []byte("xml")) && (c.at > 0 || !plainDeclaration(string(text))) {
		return false
	}
	c.at += end + 2
	_, _, ok := splitName(target)
	return ok
}

// plainDeclaration reports whether an XML declaration is of version 1.0 and names
// no encoding but UTF-8.
func plainDeclaration(text string) bool {
	for i, word := range strings.Fields(strings.ToLower(text)) {
		if !strings.Contains(word, `"`) {
			word = strings.ReplaceAll(word, "'", `"`)
		}
		switch word {
		case `version="1.0"`, `encoding="utf-8"`, `standalone="yes"`, `standalone="no"`:
		default:
			if i > 0 || word != "xml" {
				return false
			}
		}
	}
	return true
}

// startTag reads an opening tag.
func (c *cutter) startTag() bool {
	start := c.at
	name := c.src[start+1:]
	name = name[:nameLength(name)]
	prefix, local, ok := splitName(name)
	if !ok || len(c.open) > c.maxDepth || c.done {
		return false
	}
	parent := &c.open[len(c.open)-1]
	child := openElement{name: name, role: kept, foreign: parent.foreign, namespaces: parent.namespaces, base: parent.base}
	if len(c.open) == 1 {
		c.root = strings.ToLower(string(local))
		if c.root != "rss" && c.root != "rdf" && c.root != "feed" {
			return false
		}
		child.role = rootElement
	} else {
		child.role = wanted(parent.role, c.root, lower(local))
	}
	tag := tagReader{c: c, element: &child, at: start + 1 + len(name)}
	closed, ok := tag.read()
	if !ok || child.namespaces > maxNamespaces {
		return false
	}
	c.at = tag.at
	if string(local) == "item" {
		c.abouts = append(c.abouts, tag.about)
	}
	if child.role == kept && parent.role == article && c.mayTake(name, &tag, child.foreign) {
		child.role, child.inner = taken, c.at
	}
	c.copyFrom(parent.role, child.role, start)
	if child.role != dropped {
		c.use(prefix)
	}
	if child.role == rootElement {
		c.header = c.at
	}
	if closed {
		// There is nothing in it.
		child.role = min(child.role, kept)
		c.copyAfter(parent.role, child.role)
		c.done = len(c.open) == 1
		return true
	}
	c.open = append(c.open, child)
	return true
}

// mayTake reports whether what is in an element of an article may be replaced: it is
// a date, or a text that may be long and whose place in the article is certain. It
// notes which.
func (c *cutter) mayTake(name []byte, tag *tagReader, foreign bool) bool {
	tag.element.markup = escaped
	switch string(name) {
	case "pubDate", "dc:date":
		tag.element.markup = dated
		return c.root != "feed"
	case "content:encoded":
		return c.root != "feed"
	case "description":
		return c.root != "feed" && !foreign
	case "content", "summary":
		if c.root != "feed" || foreign || tag.odd {
			return false
		}
		switch strings.ToLower(string(tag.kind)) {
		case "xhtml":
			tag.element.markup = inline
			return true
		case "html":
			tag.element.markup = escapedHTML
			return true
		case "", "text":
			return true
		}
	}
	return false
}

// copyFrom starts or ends copying at the start of a child.
func (c *cutter) copyFrom(parent, child role, start int) {
	if child == dropped && parent != dropped && c.from >= 0 {
		c.out = append(c.out, c.src[c.from:start]...)
		c.from = -1
	}
}

// copyAfter goes on copying behind a child that was left out.
func (c *cutter) copyAfter(parent, child role) {
	if child == dropped && parent != dropped {
		c.from = c.at
	}
}

// endTag reads a closing tag, which has to be that of the element that is open.
func (c *cutter) endTag() bool {
	start := c.at
	name := c.src[start+2:]
	name = name[:nameLength(name)]
	top := c.open[len(c.open)-1]
	if len(c.open) == 1 || !bytes.Equal(name, top.name) {
		return false
	}
	c.at = start + 2 + len(name)
	c.at += blanks(c.src[c.at:])
	if !c.skip(0, ">") {
		return false
	}
	switch {
	case top.role == taken && top.markup == dated:
		c.spell(top, start)
	case top.role == taken:
		c.take(top, start)
	}
	c.open = c.open[:len(c.open)-1]
	c.copyAfter(c.open[len(c.open)-1].role, top.role)
	c.done = len(c.open) == 1
	return true
}

// take puts a mark in the place of an element's content, which ends here.
func (c *cutter) take(e openElement, end int) {
	raw := bytes.TrimSpace(c.src[e.inner:end])
	if len(raw) == 0 || e.markup == escaped && (len(raw) < shortText || bytes.HasPrefix(raw, []byte(sectionStart+sectionEnd))) {
		// The parser has to see where there is nothing, and looks elsewhere then.
		return
	}
	c.out = append(c.out, c.src[c.from:e.inner]...)
	c.out = append(c.out, mark...)
	c.out = strconv.AppendInt(c.out, int64(len(c.texts)), 10)
	c.out = append(c.out, mark...)
	c.from = end
	c.texts = append(c.texts, takenText{raw: raw, markup: e.markup, base: e.base})
}

// spell writes a date in the way that the parser tries among the first, if it is in
// the one that most feeds have. It would try five others before, in a slow way.
func (c *cutter) spell(e openElement, end int) {
	t, ok := usualDate(string(bytes.TrimSpace(c.src[e.inner:end])))
	if !ok {
		return
	}
	c.out = append(c.out, c.src[c.from:e.inner]...)
	c.out = t.AppendFormat(c.out, time.RFC3339)
	c.from = end
}
