package collect

import (
	"bytes"
	stdjson "encoding/json"
)

// ofUsualTypes returns a JSON Feed whose members have the types of JSON Feed 1.1,
// which the parser insists on: numbers where a text is meant become one, a text where
// a list or a person is meant becomes that, and what cannot be meant is left out. Nil:
// the document is no object with a list of items.
func ofUsualTypes(body []byte) []byte {
	d := stdjson.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var doc map[string]any
	if d.Decode(&doc) != nil {
		return nil
	}
	if _, ok := doc["items"].([]any); !ok {
		return nil
	}
	usualMembers(doc, "version", "title", "home_page_url", "feed_url", "description", "user_comment", "next_url", "icon", "favicon", "language")
	keepType[bool](doc, "expired")
	keepType[[]any](doc, "hubs")
	doc["items"] = objects(doc["items"], func(item map[string]any) {
		usualMembers(item, "id", "url", "external_url", "title", "content_html", "content_text", "summary", "image",
			"banner_image", "date_published", "date_modified", "language")
		if tags := words(item["tags"]); tags != nil {
			item["tags"] = tags
		} else {
			delete(item, "tags")
		}
		// What is attached is of use only for its pictures.
		item["attachments"] = objects(item["attachments"], func(a map[string]any) {
			usualMembers(a, "url", "mime_type", "title")
			delete(a, "size_in_bytes")
			delete(a, "duration_in_seconds")
		})
	})
	out, err := stdjson.Marshal(doc)
	if err != nil {
		return nil
	}
	return out
}

// usualMembers gives an object's members their types: those that are named are texts,
// and the authors people.
func usualMembers(o map[string]any, names ...string) {
	for _, name := range names {
		switch v := o[name].(type) {
		case string:
		case stdjson.Number:
			o[name] = v.String()
		default:
			delete(o, name)
		}
	}
	people(o)
}

// people makes objects of authors that are names.
func people(o map[string]any) {
	for _, name := range []string{"author", "authors"} {
		one := func(v any) any {
			if text, ok := v.(string); ok {
				return map[string]any{"name": text}
			}
			return v
		}
		var all []any
		switch v := o[name].(type) {
		case []any:
			for _, each := range v {
				all = append(all, one(each))
			}
		case nil:
			continue
		default:
			all = []any{one(v)}
		}
		kept := objects(all, func(p map[string]any) {
			for member, value := range p {
				if _, ok := value.(string); !ok {
					delete(p, member)
				}
			}
		})
		delete(o, name)
		switch {
		case len(kept) == 0:
		case name == "author":
			o[name] = kept[0]
		default:
			o[name] = kept
		}
	}
}

// objects returns those members of a list that are objects, as each leaves them.
func objects(v any, each func(map[string]any)) []any {
	list, _ := v.([]any)
	kept := []any{}
	for _, one := range list {
		if o, ok := one.(map[string]any); ok {
			each(o)
			kept = append(kept, o)
		}
	}
	return kept
}

// words returns the texts of a list, or of what should be one.
func words(v any) []any {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var all []any
	for _, one := range list {
		switch one := one.(type) {
		case string:
			all = append(all, one)
		case stdjson.Number:
			all = append(all, one.String())
		}
	}
	return all
}

// keepType leaves a member out that is of another type.
func keepType[T any](o map[string]any, name string) {
	if _, ok := o[name].(T); !ok {
		delete(o, name)
	}
}

// mendedJSON returns a document of JSON without the mistakes that lead to only one
// reading: bare line breaks and tabs in texts, escaped apostrophes, a comma before the
// end of a list or an object, and anything behind the document.
func mendedJSON(body []byte) []byte {
	out := make([]byte, 0, len(body)+len(body)/16)
	depth, inText := 0, false
	comma := -1 // where out ends with one, and nothing but blanks behind it
	for i := 0; i < len(body); i++ {
		c := body[i]
		if inText {
			switch {
			case c == '\\' && i+1 < len(body) && body[i+1] == '\'':
				continue // which needs no escape, and has none
			case c == '\\' && i+1 < len(body):
				out = append(out, c)
				i++
				c = body[i]
			case c == '"':
				inText = false
			case c == '\n' || c == '\r' || c == '\t':
				out = append(out, '\\')
				c = map[byte]byte{'\n': 'n', '\r': 'r', '\t': 't'}[c]
			}
			out = append(out, c)
			continue
		}
		switch c {
		case ' ', '\t', '\r', '\n':
			out = append(out, c)
			continue
		case ',':
			comma = len(out)
			out = append(out, c)
			continue
		case '"':
			inText = true
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if comma >= 0 {
				out[comma] = ' '
			}
		}
		comma = -1
		out = append(out, c)
		if depth == 0 {
			break
		}
	}
	return out
}
