package collect

import (
	"net/url"
	"strings"

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
