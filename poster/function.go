package poster

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"
)

// kind is what a value in a template is.
type kind int

const (
	kindAny kind = iota // one of the others; known when the text is made
	kindText
	kindLink
	kindAddress
	kindList
	kindNumber
	kindTruth
	kindData // the whole data, which holds the fields
)

// function is what a template can call: text/template's own, or one of ours.
type function struct {
	// args are the kinds of its arguments; the last one may repeat if more is set.
	args []kind
	more bool
	// result is the kind it returns, or kindAny for that of an argument.
	result kind
	// call is the function; nil for text/template's own.
	call any
}

// functions are all that a template can call.
func functions() map[string]function {
	compare := function{args: []kind{kindAny, kindAny}, result: kindTruth}
	return map[string]function{
		"and":      {args: []kind{kindAny}, more: true, result: kindAny},
		"or":       {args: []kind{kindAny}, more: true, result: kindAny},
		"not":      {args: []kind{kindAny}, result: kindTruth},
		"eq":       {args: []kind{kindAny, kindAny}, more: true, result: kindTruth},
		"ne":       compare,
		"lt":       compare,
		"le":       compare,
		"gt":       compare,
		"ge":       compare,
		"len":      {args: []kind{kindAny}, result: kindNumber},
		"index":    {args: []kind{kindList, kindNumber}, result: kindText},
		"required": {args: []kind{kindAny}, result: kindAny, call: required},
		"default":  {args: []kind{kindAny, kindAny}, result: kindAny, call: byDefault},
		"truncate": {args: []kind{kindNumber, kindText}, result: kindText, call: truncate},
		"hashtags": {args: []kind{kindList}, result: kindAddress, call: hashtags},
		"join":     {args: []kind{kindText, kindList}, result: kindText, call: join},
		"date":     {args: []kind{kindText, kindText}, result: kindText, call: date},
		"dateIn":   {args: []kind{kindText, kindText, kindText}, result: kindText, call: dateIn},
	}
}

// calls are those of the functions that are ours.
func calls(all map[string]function) template.FuncMap {
	m := template.FuncMap{}
	for name, f := range all {
		if f.call != nil {
			m[name] = f.call
		}
	}
	return m
}

// errMissing is how a template ends where something required is not there.
var errMissing = errors.New("the article has none")

// required returns v, or an error if it is empty.
func required(v any) (any, error) {
	if empty(v) {
		return nil, errMissing
	}
	return v, nil
}

// byDefault returns v, or instead if v is empty.
func byDefault(instead, v any) any {
	if empty(v) {
		return instead
	}
	return v
}

func empty(v any) bool {
	truth, _ := template.IsTrue(v)
	return !truth
}

// truncate cuts a text to at most n characters, the ellipsis among them.
func truncate(n int, text string) string {
	pieces := []piece{{value, text}}
	f := fitter{limit: Limit{Max: n, Unit: Graphemes}}
	switch {
	case n <= 0:
		return ""
	case f.fits(pieces):
		return text
	}
	return cmp.Or(f.shorten(pieces, 0, 0), ellipsis)
}

func join(separator string, list []string) string { return strings.Join(list, separator) }

// date writes a field such as .Published in Go's layout, in UTC. An empty one
// stays empty.
func date(layout, value string) (string, error) { return dateIn("UTC", layout, value) }

// dateIn is date in a zone of the IANA database.
func dateIn(zone, layout, value string) (string, error) {
	if value == "" {
		return "", nil
	}
	place, err := time.LoadLocation(zone)
	if err != nil {
		return "", fmt.Errorf("no time zone %q", zone)
	}
	t, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return "", fmt.Errorf("%q is not a date; use .Published or .Updated", value)
	}
	return t.In(place).Format(layout), nil
}

// rfc3339 writes a time, or nothing for the zero time.
func rfc3339(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// sampleArticle is what templates are tried on.
func sampleArticle() Article {
	at := time.Date(2026, 8, 3, 9, 0, 0, 0, time.UTC)
	return Article{
		URL: "https://example.jp/a", Title: "A \"title\" \\ with <signs>", Summary: "A summary",
		Author: "An author", Image: "https://example.jp/a.png", Categories: []string{"one", "two"},
		GUID: "a", Source: "source", Published: at, Updated: at,
	}
}
