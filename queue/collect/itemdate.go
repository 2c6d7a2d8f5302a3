package collect

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
)

// Where an item may have its dates beside its format's own place, by the prefix under
// which a vocabulary is known everywhere: Dublin Core's elements and terms
// (https://www.dublincore.org/specifications/dublin-core/dcmi-terms/) and Atom's. In
// none stands what a format does not know.
var (
	publishedNames = [][2]string{
		{"dc", "date"}, {"dcterms", "issued"}, {"dcterms", "created"}, {"dcterms", "date"}, {"dcterms", "pubDate"},
		{"atom", "published"}, {"", "published"}, {"", "issued"}, {"", "created"}, {"", "date"},
	}
	updatedNames = [][2]string{
		{"dcterms", "modified"}, {"atom", "updated"}, {"", "updated"}, {"", "modified"},
	}
)

// publishedAt returns when an item was published, by the first of its dates that can
// be read. Without one that is when it was updated.
func publishedAt(item *gofeed.Item, zone *time.Location) time.Time {
	if t := dateIn(item.Published, item.PublishedParsed, zone); !t.IsZero() {
		return t
	}
	for text := range textsOf(item, publishedNames) {
		if t := dateIn(text, nil, zone); !t.IsZero() {
			return t
		}
	}
	return updatedAt(item, zone)
}

// updatedAt returns when an item was updated.
func updatedAt(item *gofeed.Item, zone *time.Location) time.Time {
	if t := dateIn(item.Updated, item.UpdatedParsed, zone); !t.IsZero() {
		return t
	}
	for text := range textsOf(item, updatedNames) {
		if t := dateIn(text, nil, zone); !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// textsOf yields the texts of an item's elements of these names, in their order.
func textsOf(item *gofeed.Item, names [][2]string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range names {
			if name[0] == "" {
				for _, key := range slices.Sorted(maps.Keys(item.Custom)) {
					if strings.EqualFold(key, name[1]) && !yield(strings.TrimSpace(item.Custom[key])) {
						return
					}
				}
				continue
			}
			for _, e := range item.Extensions[name[0]][name[1]] {
				if text := strings.TrimSpace(e.Value); text != "" && !yield(text) {
					return
				}
			}
		}
	}
}
