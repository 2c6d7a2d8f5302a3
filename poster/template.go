package poster

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"text/template"
)

// DefaultTemplate is what is said where the config says nothing else: the title,
// if there is one, and the address below it.
const DefaultTemplate = "{{with .Title}}{{.}}\n{{end}}{{.URL}}"

// Template is the text of an announcement, with holes for what the article gives.
// It is used concurrently.
type Template struct{ parsed *template.Template }

// ParseTemplate reads a text template in the language of text/template, less what
// could hang or run wild: no templates within templates, a range over categories
// only, and only the functions named in docs/templates.md. A field or function
// that does not exist is an error, wherever it stands, as is a wrong argument.
func ParseTemplate(text string) (*Template, error) {
	parsed, err := parseTemplate(text, textFields(), functions(), plain{}, template.FuncMap{"fill": fill})
	if err != nil {
		return nil, err
	}
	t := &Template{parsed}
	if _, err := t.Render(sampleArticle(), "sample", Traits{}); err != nil {
		return nil, err
	}
	return t, nil
}

// Render returns the text for an article at a destination, within the platform's
// limit. What came from the article is escaped and, where there is no room, cut;
// the link is not. It returns an error when the text cannot be made: something
// required is missing, there is nothing to say, or not even the link has room.
func (t *Template) Render(a Article, destination string, traits Traits) (string, error) {
	out, err := execute(t.parsed, newTextData(a, destination))
	if err != nil {
		return "", err
	}
	return fitter{traits.Limit, traits.Escape}.fit(pieces(out))
}

// addressText is an address that is not the link.
type addressText string

// linkText is the article's own address.
type linkText string

// textData is what a text template can name.
type textData struct {
	URL         linkText
	Title       string
	Summary     string
	Author      string
	Image       addressText
	Categories  []string
	GUID        string
	Source      string
	Destination string
	Published   string
	Updated     string
}

// textFields are the fields of textData.
func textFields() map[string]kind {
	return map[string]kind{
		"URL": kindLink, "Title": kindText, "Summary": kindText, "Author": kindText, "Image": kindAddress,
		"Categories": kindList, "GUID": kindText, "Source": kindText, "Destination": kindText,
		"Published": kindText, "Updated": kindText,
	}
}

func newTextData(a Article, destination string) textData {
	d := textData{
		URL:         linkText(cleanAddress(a.URL)),
		Title:       CleanLine(a.Title),
		Summary:     CleanLine(a.Summary),
		Author:      CleanLine(a.Author),
		Image:       addressText(cleanAddress(a.Image)),
		GUID:        CleanLine(a.GUID),
		Source:      CleanLine(a.Source),
		Destination: CleanLine(destination),
		Published:   rfc3339(a.Published),
		Updated:     rfc3339(a.Updated),
	}
	for _, c := range a.Categories {
		if c = CleanLine(c); c != "" {
			d.Categories = append(d.Categories, c)
		}
	}
	return d
}

// A hole's content is set between two noncharacters, which no clean text holds,
// so that the parts of a text can be told apart after it was made.
const (
	valueMark = "\ufdd0"
	wholeMark = "\ufdd1"
	linkMark  = "\ufdd2"
	endMark   = "\ufdd3"
)

// plain is the syntax of a text: it has none, and each hole is marked.
type plain struct{}

func (plain) after(state int, _ string) (int, error) { return state, nil }
func (plain) fill(int, kind) (string, error)         { return "fill", nil }

// fill marks what stands in a hole.
func fill(v any) string {
	switch v := v.(type) {
	case linkText:
		return linkMark + string(v) + endMark
	case addressText:
		return wholeMark + string(v) + endMark
	case []string:
		return valueMark + strings.Join(v, ", ") + endMark
	default:
		return valueMark + fmt.Sprint(v) + endMark
	}
}

// pieces takes a made text apart at its marks.
func pieces(text string) []piece {
	var all []piece
	for {
		before, mark, after, ok := cutMark(text)
		hole, rest, ended := strings.Cut(after, endMark)
		if !ok || !ended {
			return append(all, piece{literal, CleanText(text)})
		}
		all = append(all, piece{literal, CleanText(before)}, piece{mark, hole})
		text = rest
	}
}

// cutMark cuts a text at the first mark that begins a hole.
func cutMark(text string) (before string, what role, after string, ok bool) {
	at := strings.IndexAny(text, valueMark+wholeMark+linkMark)
	if at < 0 {
		return "", 0, "", false
	}
	before, after = text[:at], text[at+len(valueMark):]
	switch text[at : at+len(valueMark)] {
	case linkMark:
		what = link
	case wholeMark:
		what = whole
	default:
		what = value
	}
	return before, what, after, true
}

// maxOutput is how much a template may make, in bytes.
const maxOutput = 1 << 18

// boundedBuffer takes maxOutput bytes and no more.
type boundedBuffer struct{ bytes.Buffer }

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxOutput {
		return 0, fmt.Errorf("it makes more than %d KiB", maxOutput>>10)
	}
	return b.Buffer.Write(p)
}

// calling finds the call that failed, and where the position ends, in an error of
// text/template.
var (
	calling  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`at <(.*)>: error calling`) })
	position = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^template: text:[0-9:]+ (executing "text" )?`) })
)

// execute makes the text, or says what is wrong with it in one line.
func execute(t *template.Template, data any) (string, error) {
	var out boundedBuffer
	err := t.Execute(&out, data)
	if err == nil {
		return out.String(), nil
	}
	if errors.Is(err, errMissing) {
		return "", fmt.Errorf("{{%s}}: %w", calling().FindStringSubmatch(err.Error())[1], errMissing)
	}
	what := "text template"
	if at := calling().FindStringSubmatch(err.Error()); at != nil {
		what = "{{" + at[1] + "}}"
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return "", fmt.Errorf("%s: %s", what, position().ReplaceAllString(CleanLine(err.Error()), ""))
}
