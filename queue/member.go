package queue

import (
	"bytes"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The types of a record's members take what they understand and nothing else, so
// that one odd member of an old record does not make the whole file unreadable.

// lax is a string, or absent if the record has anything else there.
type lax string

func (l *lax) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil || v.Kind() != '"' {
		return err
	}
	text, err := unquote(v)
	*l = lax(text)
	return err
}

// labels is a list of strings, or absent.
type labels []string

func (l *labels) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil || v.Kind() != '[' {
		return err
	}
	var all []lax
	err = json.Unmarshal(v, &all)
	for _, s := range all {
		if s != "" {
			*l = append(*l, string(s))
		}
	}
	return err
}

// flag is true, or false whatever else the record has there.
type flag bool

func (f *flag) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	*f = v.Kind() == 't'
	return err
}

// count is a whole number that fits an int and is not negative, or zero.
type count int

func (c *count) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil || v.Kind() != '0' {
		return err
	}
	if n, err := strconv.Atoi(string(v)); err == nil && n > 0 {
		*c = count(n)
	}
	return nil
}

// stamp is a time, from RFC 3339 or Unix milliseconds, or absent if the record has
// anything else there.
type stamp time.Time

func (s *stamp) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	var t time.Time
	switch v.Kind() {
	case '"':
		text, err := unquote(v)
		if err != nil {
			return err
		}
		if t, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return nil
		}
	case '0':
		ms, err := strconv.ParseFloat(string(v), 64)
		if err != nil || ms < 0 || ms > 253402300799999 {
			return nil
		}
		t = time.UnixMilli(int64(ms))
	default:
		return nil
	}
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return nil // its zone took it out of the years that can be written
	}
	*s = stamp(t.Truncate(time.Millisecond))
	return nil
}

// unquote returns the text of a string that a decoder has found valid.
func unquote(v jsontext.Value) (string, error) {
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1]), nil
	}
	text, err := jsontext.AppendUnquote(nil, v)
	return string(text), err
}
