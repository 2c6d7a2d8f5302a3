package collect

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"strings"

	"golang.org/x/net/html/charset"
)

// Limits of a document's shape beside its depth. No feed comes near them; they
// bound what its parser may be made to do. The parser copies the namespaces in
// scope for each element that adds to them, and all the text so far of an element
// for each further piece of it.
const (
	maxNamespaces = 128
	maxCopied     = 1 << 30
)

// scanXML reads a document as the feed parser will, by the same tokens, and returns
// the local name of its root element in lower case and what each item says it is
// about (rdf:about, empty if it does not), or an error that names the limit it
// exceeds. It does not recurse, where the parser does: two million nested
// elements would overflow the stack, which ends the program and cannot be
// recovered from. A document that is not well-formed is scanned up to that place,
// since the parser gets no further.
func scanXML(ctx context.Context, body []byte, maxDepth int) (root string, abouts []string, err error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	d.CharsetReader = charset.NewReaderLabel
	// One for each open element, the document itself being the first.
	open := []element{{}}
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return "", nil, context.Cause(ctx)
		}
		token, err := d.Token()
		if err != nil {
			return root, abouts, nil
		}
		top := &open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			if root == "" {
				root = strings.ToLower(token.Name.Local)
			}
			if len(open) > maxDepth {
				return "", nil, fmt.Errorf("its elements are nested deeper than %d, which is the limit", maxDepth)
			}
			if token.Name.Local == "item" {
				abouts = append(abouts, xmlAttribute(token, "about"))
			}
			child := element{namespaces: top.namespaces + namespaces(token)}
			if child.namespaces > maxNamespaces {
				return "", nil, fmt.Errorf("it has more than %d namespaces in one place, which is the limit", maxNamespaces)
			}
			open = append(open, child)
		case xml.EndElement:
			open = open[:max(len(open)-1, 1)]
		case xml.CharData:
			top.text += len(token)
			if top.copied += top.text; top.copied > maxCopied && top.copied > 2*top.text {
				return "", nil, fmt.Errorf("it has an element of %s in too many pieces", size(int64(top.text)))
			}
		}
	}
}

// element is what is counted of an open element.
type element struct {
	namespaces int // in scope
	text       int // bytes of its own text so far
	copied     int // bytes that are copied to gather them
}

func xmlAttribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

func namespaces(e xml.StartElement) int {
	n := 0
	for _, a := range e.Attr {
		if a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns" {
			n++
		}
	}
	return n
}

// scanJSON returns an error if a document is nested too deep.
func scanJSON(body []byte, maxDepth int) error {
	depth, inString := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return fmt.Errorf("its values are nested deeper than %d, which is the limit", maxDepth)
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return nil
}
