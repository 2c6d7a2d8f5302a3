package collect

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"bot/dedupe"

	"github.com/mmcdole/gofeed/atom"
)

// linked is what a document says of the address of one item.
type linked struct {
	// page is it where the parser would choose another, or none.
	page string
	// opaque: its guid says that it is no address. permanent: it says that it is one, as it
	// also does in RSS where it says nothing.
	opaque, permanent bool
	// last are where it may be if nothing else says.
	last []string
}

// link returns an item's address, which may be relative to base: the first that it has
// which can be announced, else the first, which will be refused. Empty: it has none.
func (f *feed) link(i int, base *url.URL) string {
	refused := ""
	for _, ref := range f.refs(i) {
		if ref = mendedRef(ref, base); ref == "" {
			continue
		}
		if _, err := dedupe.Canonical(absolute(ref, base)); err == nil {
			return ref
		}
		refused = cmp.Or(refused, ref)
	}
	return refused
}

// refs returns what may be an item's address as the feed has it, the best first: the
// one behind FeedBurner's, its link, the page it is about (JSON Feed 1.1,
// external_url), a guid that is an address, or Atom's link in another format's item.
func (f *feed) refs(i int) []string {
	item := f.Items[i]
	var says linked
	if len(f.linked) > 0 {
		says = f.linked[i]
	}
	var all []string
	if original := extension(item, "feedburner", "origLink"); isWeb(original) {
		all = append(all, original)
	}
	all = append(all, says.page)
	if f.FeedType == "rss" && len(item.Links) > 1 {
		all = append(all, item.Links...) // of which the last is also item.Link
	}
	all = append(all, item.Link)
	if f.FeedType == "json" && len(item.Links) > 0 {
		all = append(all, item.Links[0])
	}
	if guid := strings.TrimSpace(item.GUID); !says.opaque && isGUIDAddress(guid, says.permanent) {
		all = append(all, guid)
	}
	for _, l := range item.Extensions["atom"]["link"] {
		if href := l.Attrs["href"]; isAlternate(l.Attrs["rel"]) && mayBeWeb(href) {
			all = append(all, href)
		}
	}
	return append(all, says.last...)
}

// isGUIDAddress reports whether a guid is an address: it is whole, or at least a path.
// permanent: it says that it is one, so that it may also be any other reference.
func isGUIDAddress(guid string, permanent bool) bool {
	switch {
	case isWeb(guid), strings.HasPrefix(guid, "/"):
		return true
	case beginsWithHost(guid, nil):
		return permanent || strings.Contains(guid, "/")
	case !permanent || hasScheme(guid) || strings.ContainsAny(guid, " \t\r\n"):
		return false
	}
	return strings.Contains(guid, "/") || strings.HasPrefix(guid, "?")
}

// lastResorts returns where an Atom entry may be that names no page of its own: where
// its content is (RFC 4287 §4.1.3.2), or it itself.
func lastResorts(entry *atom.Entry) []string {
	var all []string
	if c := entry.Content; c != nil && mayBeWeb(c.Src) && isPage(c.Type) {
		all = append(all, c.Src)
	}
	if isWeb(strings.TrimSpace(entry.ID)) {
		return all // which goes first
	}
	for _, l := range entry.Links {
		if l.Rel == "self" && mayBeWeb(l.Href) {
			all = append(all, l.Href)
		}
	}
	return all
}

// pageOf returns the first alternate of an entry that is a page, in any language:
// the same article may also be there as JSON or as sound.
func pageOf(links []*atom.Link) string {
	for _, l := range links {
		if isPage(l.Type) && isAlternate(l.Rel) && mayBeWeb(l.Href) {
			return l.Href
		}
	}
	return ""
}

// isPage reports whether what has a type is a page. Without one it may be.
func isPage(kind string) bool {
	kind, _, _ = strings.Cut(strings.ToLower(kind), ";")
	kind = strings.TrimSpace(kind)
	return kind == "" || kind == "html" || kind == "text/html" || kind == "application/xhtml+xml"
}

// isAlternate reports whether a link's relation is that of the page itself, which it
// is where none is named (RFC 4287 §4.2.7.2). Some name it by its address, or several.
func isAlternate(rel string) bool {
	rel = strings.ReplaceAll(lower([]byte(rel)), "http://www.iana.org/assignments/relation/", "")
	all := strings.Fields(rel)
	return len(all) == 0 || slices.Contains(all, "alternate")
}

// mayBeWeb reports whether a reference is to a page, or may be, once it is resolved.
func mayBeWeb(ref string) bool {
	ref = strings.TrimSpace(ref)
	return ref != "" && (isWeb(ref) || !hasScheme(ref))
}

// useAbouts gives items without a link the address that they are about (RSS 1.0
// §5.5). abouts are those of the document's items, in order.
func (f *feed) useAbouts(abouts []string) {
	if len(abouts) != len(f.Items) {
		return
	}
	for i, item := range f.Items {
		if strings.TrimSpace(item.Link) == "" && mayBeWeb(abouts[i]) {
			f.linked[i].page = abouts[i]
		}
	}
}
