package cmd

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"bot/config"
)

// The rules of output: results go to stdout and everything else to stderr. With
// --json a command prints exactly one JSON document on stdout; with --quiet
// nothing else; otherwise text, for people, whose last line sums up. Nothing that
// came from outside reaches a terminal with its control characters.

// printf prints a part of the result as text, unless JSON or silence is asked for. A
// text among args stays on its line, so that none from outside can begin one of its
// own; a block may have several.
func (a *app) printf(format string, args ...any) {
	if a.json || a.quiet {
		return
	}
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = strings.Map(onOneLine, text)
		}
	}
	fmt.Fprintf(a.stdout, format, args...)
}

// block is a text of several lines, set off from what is around it.
type block string

// onOneLine makes a blank of whatever ends a line, somewhere (UAX #14, class BK, CR, LF
// and NL).
func onOneLine(r rune) rune {
	switch r {
	case '\n', '\v', '\f', '\r', '\u0085', '\u2028', '\u2029':
		return ' '
	}
	return r
}

// together holds back what is printed of the result until it is called again: a long
// list is then a few writes, and not one for each line.
func (a *app) together() (print func()) {
	direct := a.stdout.w
	held := bufio.NewWriterSize(direct, 16<<10)
	a.stdout.set(held)
	return func() {
		a.stdout.set(direct)
		a.stdout.note(held.Flush())
	}
}

// printJSON prints the result, if JSON is asked for.
func (a *app) printJSON(v any) error {
	if !a.json {
		return nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encode the result: %w", err)
	}
	_, err := a.stdout.Write(escapeUnprintable(b.Bytes()))
	return err
}

// escapeUnprintable writes what steers a terminal as JSON escapes, so that the
// document is whole and harmless.
func escapeUnprintable(doc []byte) []byte {
	if !bytes.ContainsFunc(doc, unprintable) {
		return doc
	}
	var b bytes.Buffer
	for _, r := range string(doc) {
		if unprintable(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// cleanWriter keeps control characters and marks that turn the direction of text
// from a terminal. It takes whole texts: a character is never split between writes.
type cleanWriter struct {
	w io.Writer
	// mu is shared by both streams, since destinations that print do so side by
	// side, and both streams may be one.
	mu *sync.Mutex
	// err is the first error there was.
	err error
}

func (c *cleanWriter) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.w.Write(clean(p)); err != nil {
		c.err = cmp.Or(c.err, err)
		return 0, err
	}
	return len(p), nil
}

// set lets what is written go to w from now on.
func (c *cleanWriter) set(w io.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.w = w
}

// note remembers an error of the writer's, if it is the first.
func (c *cleanWriter) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = cmp.Or(c.err, err)
}

func clean(p []byte) []byte {
	p = bytes.ToValidUTF8(p, []byte("\uFFFD"))
	if !bytes.ContainsFunc(p, unprintable) {
		return p
	}
	return bytes.Map(func(r rune) rune {
		if unprintable(r) {
			return -1
		}
		return r
	}, p)
}

// unprintable reports whether r steers a terminal rather than showing on it.
func unprintable(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	// The directional marks, embeddings, overrides and isolates of UAX #9.
	return unicode.IsControl(r) || r == 0x061C || r == 0x200E || r == 0x200F ||
		r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// oneLine makes a text from outside fit a line of a list.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}

// jsonTime is a time in JSON: RFC 3339 in UTC with milliseconds, or null.
type jsonTime time.Time

// MarshalJSON writes the time.
func (t jsonTime) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(time.Time(t).UTC().Format("2006-01-02T15:04:05.000Z07:00"))
}

// when shows a time to a person, in the fleet's zone.
func when(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(zone).Format("2006-01-02 15:04:05 MST")
}

// plural picks the word for n things.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// errorLines returns an error as lines: one for each problem of a config and for each of
// several errors, and none that a text from outside begins.
func errorLines(err error) []string {
	var problems config.Problems
	if errors.As(err, &problems) {
		return strings.Split(err.Error(), "\n")
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var texts, lines []string
		for _, one := range several.Unwrap() {
			texts, lines = append(texts, one.Error()), append(lines, errorLines(one)...)
		}
		if strings.Join(texts, "\n") == err.Error() {
			return lines
		}
	}
	return []string{strings.Map(onOneLine, err.Error())}
}

// indent sets a text off from what is around it.
func indent[S ~string](s S) block {
	return block("  " + strings.ReplaceAll(string(s), "\n", "\n  "))
}

// join puts a name before what is said of it.
func join(name, detail string) string {
	if name == "" {
		return detail
	}
	return name + ": " + detail
}

// resultWriter is where destinations that print do so: with the results, unless
// those have to be one JSON document or nothing.
func (a *app) resultWriter() io.Writer {
	w := a.stdout
	if a.json || a.quiet {
		w = a.stderr
	}
	if bar := a.progress("", 0); bar != nil {
		return besideProgress{bar, w}
	}
	return w
}
