package collect

import (
	"bytes"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// prepared returns a document as it is to be parsed: in UTF-8, without what no
// parser would take although every site sends it, and with its vocabularies under
// their usual names.
func prepared(body []byte, contentType string) []byte {
	body = withoutControls(toUTF8(body, contentType))
	if len(body) == 0 || body[0] != '<' {
		return body
	}
	for _, never := range []string{"\uffff", "\ufffe"} {
		// It copies whatever it finds.
		if bytes.Contains(body, []byte(never)) {
			body = bytes.ReplaceAll(body, []byte(never), nil)
		}
	}
	body = closedSections(readableReferences(plainlyDeclared(body)))
	from, to := rootTag(body)
	if from < 0 {
		return body
	}
	name := body[from+1:]
	name = name[:nameLength(name)]
	prefix, local, _ := splitName(name)
	if lower(local) == "feed" {
		body = literalTitles(body, prefix)
		if len(prefix) == 0 {
			body = textLinks(foreignDates(body))
		}
	}
	if tag := usualNamespaces(body[from:to], lower(local)); tag != nil {
		body = slices.Concat(body[:from], tag, body[to:])
	}
	return body
}

// plainlyDeclared returns a document, in UTF-8 by now, that declares nothing which the
// parser stumbles over: another version of XML than 1.0, whose further characters are
// not found in feeds, or what is not spelled as a declaration.
func plainlyDeclared(body []byte) []byte {
	const start = "<?xml"
	if !bytes.HasPrefix(body, []byte(start)) || blanks(body[len(start):]) == 0 {
		return body
	}
	end := bytes.Index(body[:min(len(body), longestDeclaration)], []byte("?>"))
	if end < 0 || bytes.IndexByte(body[len(start):end], '<') >= 0 || plainDeclaration(string(body[len("<?"):end])) {
		return body
	}
	return slices.Concat([]byte(`<?xml version="1.0"?>`), body[end+len("?>"):])
}

// readableReferences returns a document without references to characters that no
// document may have, and with those by which some write a character beyond the
// first 65,536 as two put together.
func readableReferences(body []byte) []byte {
	var out []byte
	from, at := 0, 0
	for {
		next := bytes.Index(body[at:], []byte("&#"))
		if next < 0 {
			break
		}
		at += next
		r, length := reference(body[at:])
		if length == 0 {
			at += 2
			continue
		}
		var instead []byte
		switch {
		case utf16.IsSurrogate(r):
			low, more := reference(body[at+length:])
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				length += more
				r = pair
			} else {
				r = utf8.RuneError
			}
			instead = utf8.AppendRune(nil, r)
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0xfffe, r == 0xffff:
		default:
			at += length
			continue
		}
		out = append(append(out, body[from:at]...), instead...)
		at += length
		from = at
	}
	if from == 0 {
		return body
	}
	return append(out, body[from:]...)
}

// reference reads the numeric reference that a text begins with. length is zero if
// it is none.
func reference(text []byte) (r rune, length int) {
	if !bytes.HasPrefix(text, []byte("&#")) {
		return 0, 0
	}
	end := bytes.IndexByte(text[:min(len(text), longestEntity)], ';')
	if end < 0 {
		return 0, 0
	}
	base, digits := 10, string(text[2:end])
	if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
		base, digits = 16, digits[1:]
	}
	n, err := strconv.ParseUint(digits, base, 31)
	if err != nil {
		return 0, 0
	}
	return rune(n), end + 1
}

// rootTag returns where the opening tag of the root element is. Negative: there is
// none.
func rootTag(body []byte) (from, to int) {
	at := 0
	for {
		next := bytes.IndexByte(body[at:], '<')
		if next < 0 {
			return -1, -1
		}
		at += next
		rest := body[at:]
		var end int
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			end = after(rest, "-->")
		case bytes.HasPrefix(rest, []byte("<?")):
			end = after(rest, "?>")
		case bytes.HasPrefix(rest, []byte("<!")):
			end = after(rest, ">")
			if open := bytes.IndexByte(rest, '['); open >= 0 && open < end {
				end = after(rest, "]>")
			}
		default:
			if end = tagLength(rest); end < 0 {
				return -1, -1
			}
			return at, at + end
		}
		if end < 0 {
			return -1, -1
		}
		at += end
	}
}

func after(text []byte, mark string) int {
	if at := bytes.Index(text, []byte(mark)); at >= 0 {
		return at + len(mark)
	}
	return -1
}

// tagLength returns how long the tag is that a text begins with. Negative: it does
// not end.
func tagLength(text []byte) int {
	var quote byte
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return -1
}

// vocabularies are the namespaces that matter to the parser. Many feeds have them
// with https, with a slash at the end, or in small letters.
var vocabularies = func() map[string]string {
	all := make(map[string]string)
	for _, name := range []string{
		atomNamespace, "http://purl.org/atom/ns#", "http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/",
		"http://channel.netscape.com/rdf/simple/0.9/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
		"http://purl.org/rss/1.0/modules/content/", "http://purl.org/dc/elements/1.1/", "http://purl.org/dc/terms/",
		"http://search.yahoo.com/mrss/", "http://www.itunes.com/dtds/podcast-1.0.dtd", "http://rssnamespace.org/feedburner/ext/1.0",
	} {
		all[vocabularyKey(name)] = name
	}
	return all
}()

const atomNamespace = "http://www.w3.org/2005/Atom"

func vocabularyKey(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if _, rest, found := strings.Cut(name, "://"); found {
		name = rest
	}
	return strings.TrimRight(name, "/#")
}

// usualNamespaces returns a root's tag with the usual names of its vocabularies. The
// elements of RSS are in none, and those of Atom are in Atom's whatever a feed calls
// it. Nil: nothing is to be changed.
func usualNamespaces(tag []byte, root string) []byte {
	var out []byte
	from := 0
	for _, at := range declaredNamespace().FindAllSubmatchIndex(tag, -1) {
		value := string(tag[at[4]+1 : at[5]-1])
		usual, known := vocabularies[vocabularyKey(value)]
		switch {
		case at[2] < 0 && root == "rss" && known && usual == atomNamespace:
			usual = ""
		case at[2] < 0 && root == "feed" && value != "" && usual != atomNamespace && usual != "http://purl.org/atom/ns#":
			usual = ""
		case !known:
			continue
		}
		if usual != value {
			out = append(append(out, tag[from:at[4]+1]...), usual...)
			from = at[5] - 1
		}
	}
	if from == 0 {
		return nil
	}
	return append(out, tag[from:]...)
}

var declaredNamespace = pattern(`\sxmlns(:[A-Za-z0-9_.-]+)?\s*=\s*("[^"]*"|'[^']*')`)

// literalTitles returns an Atom feed whose titles that are plain text (RFC 4287
// §3.1.1.1) are escaped once more: in all other formats what looks like markup in a
// title is markup. prefix is the root's.
func literalTitles(body, prefix []byte) []byte {
	name := "title"
	if len(prefix) > 0 {
		name = string(prefix) + ":title"
	}
	opening, closing := []byte("<"+name), []byte("</"+name)
	var out []byte
	from, at := 0, 0
	for {
		next := bytes.Index(body[at:], opening)
		if next < 0 {
			break
		}
		at += next
		length := tagLength(body[at:])
		if length < 0 {
			break
		}
		tag := body[at : at+length]
		at += length
		end := bytes.Index(body[at:], closing)
		if end < 0 {
			break
		}
		content := body[at : at+end]
		if !bytes.ContainsAny(content, "&<") || nameLength(tag[1:]) != len(name) || !isPlainTitle(tag) {
			at += end
			continue
		}
		text, ok := characters(content)
		if !ok {
			continue
		}
		out = append(out, body[from:at]...)
		out = append(out, html.EscapeString(html.EscapeString(text))...)
		at += end
		from = at
	}
	if from == 0 {
		return body
	}
	return append(out, body[from:]...)
}

// foreignDates returns an Atom feed with the dates of other formats, and of an older
// Atom, in the vocabulary of Dublin Core's terms: the parser skips what it does not
// know of its own.
func foreignDates(body []byte) []byte {
	if !bytes.Contains(body, []byte("<created")) && !bytes.Contains(body, []byte("<pubDate")) && !bytes.Contains(body, []byte("<date")) {
		return body
	}
	return foreignDate().ReplaceAll(body, []byte(`<$1 xmlns="http://purl.org/dc/terms/">`))
}

var foreignDate = pattern(`<(created|pubDate|date)>`)

// textLinks returns an Atom feed whose links that have their address as a text, as those
// of RSS do, have it where Atom has it.
func textLinks(body []byte) []byte {
	if !bytes.Contains(body, []byte("</link>")) {
		return body
	}
	return textLink().ReplaceAll(body, []byte(`<link$1 href="$2"/>`))
}

var textLink = pattern(`<link(\s[^>]*)?>\s*(?:<!\[CDATA\[)?\s*(https?://[^\s<>\]"]+)\s*(?:\]\]>)?\s*</link>`)

var titleType = pattern(`\stype\s*=\s*["']([^"']*)["']`)

// isPlainTitle reports whether a title's tag says, or leaves it to be understood,
// that it is text.
func isPlainTitle(tag []byte) bool {
	if tag[len(tag)-2] == '/' || bytes.Contains(tag, []byte("mode")) {
		return false
	}
	found := titleType().FindSubmatch(tag)
	return found == nil || slices.Contains([]string{"text", "text/plain", ""}, lower(found[1]))
}

// characters returns the text of an element that has no elements in it.
func characters(content []byte) (string, bool) {
	var text strings.Builder
	for len(content) > 0 {
		if bytes.HasPrefix(content, []byte(sectionStart)) {
			end := bytes.Index(content, []byte(sectionEnd))
			if end < 0 {
				return "", false
			}
			text.Write(content[len(sectionStart):end])
			content = content[end+len(sectionEnd):]
			continue
		}
		end := bytes.IndexByte(content, '<')
		if end == 0 {
			return "", false
		}
		if end < 0 {
			end = len(content)
		}
		text.WriteString(decodeEntities(string(content[:end])))
		content = content[end:]
	}
	return text.String(), true
}
