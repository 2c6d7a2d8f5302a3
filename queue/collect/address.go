package collect

import (
	"net/url"
	"strings"

	"bot/dedupe"

	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html"
)

// absolute resolves a reference against the address of the document it stands in.
// One that has a scheme, or that cannot be resolved, is returned as it is.
func absolute(ref string, base *url.URL) string {
	ref = strings.TrimSpace(ref)
	if ref == "" || base == nil || hasScheme(ref) {
		return ref
	}
	resolved, err := base.Parse(ref)
	if err != nil {
		return ref
	}
	return resolved.String()
}

func hasScheme(ref string) bool {
	for i := range len(ref) {
		c := ref[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return i > 0 && c == ':'
		}
	}
	return false
}

// mendedRef returns a reference to a page without the mistakes that lead to only one
// reading: it is broken over lines, its scheme stands there twice or without a colon or
// a slash, or before a host there is none, it is in quotes or is a link of HTML, or its
// slashes are those of Windows. Empty: it is a word for nothing, or leads to no page but
// the document itself.
func mendedRef(ref string, base *url.URL) string {
	ref = unwrapped(unsectioned(oneLine(ref)))
	if isNothing(ref) || base != nil && strings.HasPrefix(ref, base.Scheme) && withoutFragment(ref) == base.String() {
		return ""
	}
	if len(ref) > dedupe.MaxURL {
		return ref // which is refused anyway
	}
	ref = withSlashes(ref)
	for at := schemeTwice().FindStringSubmatchIndex(ref); at != nil; at = schemeTwice().FindStringSubmatchIndex(ref) {
		ref = ref[at[2]:]
	}
	if broken := brokenScheme().FindStringSubmatch(ref); broken != nil {
		return broken[1] + "://" + broken[2]
	}
	scheme := "https"
	if base != nil {
		scheme = base.Scheme
	}
	switch {
	case strings.HasPrefix(ref, "://"):
		return scheme + ref
	case beginsWithHost(ref, base):
		return scheme + "://" + ref
	}
	return ref
}

var (
	schemeTwice  = pattern(`(?i)^(?:https?|feed):/*(https?:?//?[^/])`)
	brokenScheme = pattern(`(?i)^(https?)(?::/|//|:///+)((?:[^/?#\s]+\.[^/?#]|localhost).*)$`)
)

// unwrapped returns an address without the quotes or angle brackets around it, or the
// one that a link of HTML leads to, as some templates have it.
func unwrapped(ref string) string {
	if ref == "" || !strings.ContainsRune("\"'<", rune(ref[0])) {
		return ref
	}
	if anchor := htmlLink().FindStringSubmatch(ref); anchor != nil {
		return strings.TrimSpace(anchor[1])
	}
	if inner := strings.Trim(ref, "\"'<> "); isWeb(inner) {
		return inner
	}
	return ref
}

var htmlLink = pattern(`(?i)^<a\s[^>]*\bhref\s*=\s*["']?([^"'>]+)`)

// isNothing reports whether a reference is none: it is a fragment alone, what a program
// writes for an address that it does not have, or words.
func isNothing(ref string) bool {
	if ref == "" || ref[0] == '#' {
		return true
	}
	switch strings.ToLower(ref) {
	case "null", "(null)", "undefined", "none", "nil", "<nil>", "nan", "false", "[object object]", "n/a", "-":
		return true
	}
	return strings.ContainsAny(ref, " \u3000") && !strings.ContainsAny(ref, "/.?=:")
}

func withoutFragment(ref string) string {
	ref, _, _ = strings.Cut(ref, "#")
	return ref
}

// withSlashes returns an address of the web, or a relative one, with slashes in the
// place of those of Windows, as browsers read it (WHATWG URL, "path state").
func withSlashes(ref string) string {
	path := ref
	if end := strings.IndexAny(ref, "?#"); end >= 0 {
		path = ref[:end]
	}
	if !strings.Contains(path, `\`) || hasScheme(ref) && !strings.HasPrefix(strings.ToLower(ref), "http") {
		return ref
	}
	return strings.ReplaceAll(path, `\`, "/") + ref[len(path):]
}

// oneLine joins the lines of an address, with what was indented.
func oneLine(ref string) string {
	if !strings.ContainsAny(ref, "\t\r\n") {
		return strings.TrimSpace(ref)
	}
	var joined strings.Builder
	for line := range strings.FieldsFuncSeq(ref, func(r rune) bool { return r == '\t' || r == '\r' || r == '\n' }) {
		joined.WriteString(strings.TrimSpace(line))
	}
	return joined.String()
}

// beginsWithHost reports whether a reference without a scheme begins with a host: that
// of the document, or one that says it is of the web.
func beginsWithHost(ref string, base *url.URL) bool {
	host := strings.ToLower(ref)
	if end := strings.IndexAny(host, "/?#"); end >= 0 {
		host = host[:end]
	}
	if rest, found := strings.CutPrefix(host, "www."); found && strings.Contains(rest, ".") {
		return true
	}
	return host != "" && base != nil && host == strings.TrimPrefix(strings.ToLower(base.Host), "www.")
}

// image returns the address of an item's picture: the one it names, a thumbnail, an
// attached picture, or the first in its texts. Empty for none.
func image(item *gofeed.Item, base *url.URL, texts ...*longText) string {
	for _, found := range [...]func(*gofeed.Item) string{ownImage, thumbnail, attachedImage} {
		if address := imageAt(found(item), base); address != "" {
			return address
		}
	}
	return imageAt(textImage(texts), base)
}

// imageAt returns the address of a picture, empty if it is none on the web.
func imageAt(ref string, base *url.URL) string {
	if address := absolute(ref, base); isWeb(address) && len(address) <= maxTitle {
		return address
	}
	return ""
}

func ownImage(item *gofeed.Item) string {
	if item.Image == nil {
		return ""
	}
	return item.Image.URL
}

func thumbnail(item *gofeed.Item) string {
	media := item.Extensions["media"]
	for _, found := range media["thumbnail"] {
		return found.Attrs["url"]
	}
	for _, group := range media["group"] {
		for _, found := range group.Children["thumbnail"] {
			return found.Attrs["url"]
		}
	}
	return ""
}

func attachedImage(item *gofeed.Item) string {
	for _, e := range item.Enclosures {
		if e != nil && strings.HasPrefix(e.Type, "image/") {
			return e.URL
		}
	}
	return ""
}

// textImage returns the first picture in the texts.
func textImage(texts []*longText) string {
	for _, t := range texts {
		if !t.mayShow() {
			continue
		}
		for text := range t.parts {
			if src := firstImage(text, t.base()); src != "" {
				return src
			}
		}
	}
	return ""
}

// firstImage returns the first picture in a text.
func firstImage(text string, base *url.URL) string {
	if !strings.Contains(text, "<img") {
		return ""
	}
	z := html.NewTokenizer(strings.NewReader(text))
	for z.Next() != html.ErrorToken {
		if name, more := z.TagName(); !more || string(name) != "img" {
			continue
		}
		if src := imageSource(z, base); src != "" {
			return src
		}
	}
	return ""
}

// imageSource returns the source of the picture whose tag was read up to its name,
// resolved against base if there is one, as the feed parser does: its path is
// always meant as that of a directory.
func imageSource(z *html.Tokenizer, base *url.URL) string {
	for {
		key, value, more := z.TagAttr()
		if string(key) == "src" {
			src := string(value)
			if u, err := url.Parse(strings.TrimLeft(src, " ")); err == nil && base != nil {
				directory := *base
				if directory.Path != "" && src != "" && !strings.HasSuffix(directory.Path, "/") {
					directory.Path += "/"
				}
				src = directory.ResolveReference(u).String()
			}
			return strings.TrimSpace(src)
		}
		if !more {
			return ""
		}
	}
}

// attribute returns an attribute of an HTML tag without the blanks around it.
func attribute(token html.Token, name string) string {
	for _, a := range token.Attr {
		if a.Key == name {
			return strings.TrimSpace(a.Val)
		}
	}
	return ""
}
