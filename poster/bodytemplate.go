package poster

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"
)

// BodyTemplate makes JSON: what the operator wrote, with holes for what is
// announced. Whatever a title holds, the JSON stays valid. It is used concurrently.
type BodyTemplate struct{ parsed *template.Template }

// ParseBodyTemplate reads a template of JSON, in the language of text templates.
// Inside of a JSON string a hole is filled with the value, escaped; elsewhere with
// the value as JSON: a string in quotes, a list as an array. It is tried out, so
// that one which does not make JSON is an error here.
func ParseBodyTemplate(text string) (*BodyTemplate, error) {
	fills := template.FuncMap{"fillString": fillString, "fillValue": fillValue}
	parsed, err := parseTemplate(text, bodyFields(), functions(), jsonSyntax{}, fills)
	if err != nil {
		return nil, err
	}
	t := &BodyTemplate{parsed}
	full := Post{ID: "sample", Destination: "sample", Text: "A \"text\"\nof two lines", Article: sampleArticle()}
	bare := Post{ID: "sample", Destination: "sample", Text: "A text", Article: Article{URL: "https://example.jp/a"}}
	if _, err := t.Render(full); err != nil {
		return nil, err
	}
	if _, err := t.Render(bare); err != nil && !errors.Is(err, errMissing) {
		return nil, fmt.Errorf("with an article that has an address only: %w", err)
	}
	return t, nil
}

// Render returns the JSON for a post. It returns an error when something that is
// required is missing.
func (t *BodyTemplate) Render(p Post) ([]byte, error) {
	out, err := execute(t.parsed, bodyData{p.ID, p.Text, rawTextData(p)})
	if err != nil {
		return nil, err
	}
	if !json.Valid([]byte(out)) {
		return nil, fmt.Errorf("it makes no valid JSON: %w", json.Unmarshal([]byte(out), new(any)))
	}
	return []byte(out), nil
}

// bodyData is what a body template can name.
type bodyData struct {
	ID   string
	Text string
	textData
}

func bodyFields() map[string]kind {
	fields := map[string]kind{"ID": kindText, "Text": kindText}
	for name, k := range textFields() {
		fields[name] = k
	}
	return fields
}

// rawTextData is the article in clean lines, and otherwise as it is: JSON holds any text.
func rawTextData(p Post) textData {
	a := CleanArticle(p.Article)
	return textData{
		URL: linkText(a.URL), Title: a.Title, Summary: a.Summary, Author: a.Author, Image: addressText(a.Image),
		Categories: a.Categories, GUID: a.GUID, Source: a.Source, Destination: p.Destination,
		Published: rfc3339(a.Published), Updated: rfc3339(a.Updated),
	}
}

// jsonSyntax tells the inside of a JSON string, state 1, from everything else.
type jsonSyntax struct{}

func (jsonSyntax) after(state int, text string) (int, error) {
	escaped := false
	for _, c := range text {
		switch {
		case escaped:
			escaped = false
		case state == 1 && c == '\\':
			escaped = true
		case c == '"':
			state = 1 - state
		}
	}
	if escaped {
		return 0, errors.New("a backslash stands before {{")
	}
	return state, nil
}

func (jsonSyntax) fill(state int, _ kind) (string, error) {
	if state == 1 {
		return "fillString", nil
	}
	return "fillValue", nil
}

// fillString writes a value for the inside of a JSON string.
func fillString(v any) (string, error) {
	text := fmt.Sprint(v)
	if list, ok := v.([]string); ok {
		text = strings.Join(list, ", ")
	}
	out, err := fillValue(text)
	return strings.TrimSuffix(strings.TrimPrefix(out, `"`), `"`), err
}

// fillValue writes a value as JSON.
func fillValue(v any) (string, error) {
	if list, ok := v.([]string); ok && list == nil {
		return "[]", nil
	}
	out, err := json.Marshal(v)
	return string(out), err
}
