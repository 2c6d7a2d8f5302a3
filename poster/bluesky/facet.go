package bluesky

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// facet makes a part of the text a link or a tag. Bluesky does neither by itself.
type facet struct {
	Index    index     `json:"index"`
	Features []feature `json:"features"`
}

// index says where, in bytes of UTF-8; the end is not part of it.
type index struct {
	Start int `json:"byteStart"`
	End   int `json:"byteEnd"`
}

type feature struct {
	Type string `json:"$type"`
	URI  string `json:"uri,omitempty"`
	Tag  string `json:"tag,omitempty"`
}

var (
	address = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`https?://[^\s<>"、。「」（）]+`) })
	hashtag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)(#[^\s#\p{Z}]*[^\s#\p{Z}\p{P}])`) })
)

// maxTag is how long a tag may be, in bytes.
const maxTag = 640

// facets finds the addresses and tags in a text. The article's own address is a
// link as it is, whatever it ends with.
func facets(text, own string) []facet {
	var all []facet
	free := func(start, end int) bool {
		return !slices.ContainsFunc(all, func(f facet) bool { return start < f.Index.End && f.Index.Start < end })
	}
	if at := strings.LastIndex(text, own); own != "" && at >= 0 {
		all = append(all, link(at, own))
	}
	for _, at := range address().FindAllStringIndex(text, -1) {
		if uri := trimAddress(text[at[0]:at[1]]); free(at[0], at[0]+len(uri)) {
			all = append(all, link(at[0], uri))
		}
	}
	for _, at := range hashtag().FindAllStringSubmatchIndex(text, -1) {
		if tag := text[at[2]+1 : at[3]]; free(at[2], at[3]) && len(tag) <= maxTag && strings.Trim(tag, "0123456789") != "" {
			all = append(all, facet{index{at[2], at[3]}, []feature{{Type: "app.bsky.richtext.facet#tag", Tag: tag}}})
		}
	}
	slices.SortFunc(all, func(a, b facet) int { return a.Index.Start - b.Index.Start })
	return all
}

func link(at int, uri string) facet {
	return facet{index{at, at + len(uri)}, []feature{{Type: "app.bsky.richtext.facet#link", URI: uri}}}
}

// trimAddress leaves out the punctuation behind an address, and a bracket that was
// opened before it.
func trimAddress(uri string) string {
	for {
		switch rest := strings.TrimRight(uri, ".,;:!?'"); {
		case strings.HasSuffix(rest, ")") && strings.Count(rest, ")") > strings.Count(rest, "("):
			uri = strings.TrimSuffix(rest, ")")
		default:
			return rest
		}
	}
}
