package collect

import (
	"slices"
	"strings"

	"github.com/mmcdole/gofeed/atom"
)

// link returns an item's address as the feed has it: the one behind FeedBurner's,
// its link, the page it is about (JSON Feed 1.1, external_url), a guid that is an
// address, or Atom's link.
func (f *feed) link(i int) string {
	item := f.Items[i]
	if original := extension(item, "feedburner", "origLink"); isWeb(original) {
		return original
	}
	if link := f.links[i]; link != "" {
		return strings.TrimSpace(link)
	}
	if link := strings.TrimSpace(item.Link); link != "" {
		return link
	}
	if f.FeedType == "json" && len(item.Links) > 0 {
		return strings.TrimSpace(item.Links[0])
	}
	if guid := strings.TrimSpace(item.GUID); !f.opaque[i] && isWeb(guid) {
		return guid
	}
	// Atom's link in another format's item.
	for _, l := range item.Extensions["atom"]["link"] {
		if href := l.Attrs["href"]; isAlternate(l.Attrs["rel"]) && mayBeWeb(href) {
			return strings.TrimSpace(href)
		}
	}
	return ""
}

// pageOf returns the first alternate of an entry that is a page, in any language:
// the same article may also be there as JSON or as sound.
func pageOf(links []*atom.Link) string {
	for _, l := range links {
		kind, _, _ := strings.Cut(strings.ToLower(l.Type), ";")
		page := kind == "" || kind == "text/html" || kind == "application/xhtml+xml"
		if page && isAlternate(l.Rel) && mayBeWeb(l.Href) {
			return l.Href
		}
	}
	return ""
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
	f.links = make(map[int]string)
	for i, item := range f.Items {
		if strings.TrimSpace(item.Link) == "" && isWeb(abouts[i]) {
			f.links[i] = abouts[i]
		}
	}
}
