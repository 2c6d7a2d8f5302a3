package config

import (
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"unicode/utf8"
)

const redacted = "[redacted]"

// Secret is a text of the config that must not be seen. However it is printed,
// encoded or logged, it shows as [redacted]; only Reveal gives the text.
type Secret struct{ text string }

// SetSecret sets the text.
func (s *Secret) SetSecret(text string) { s.text = text }

// Reveal returns the text, to be used and not to be kept.
func (s Secret) Reveal() string { return s.text }

// String hides the text.
func (s Secret) String() string { return redacted }

// GoString hides the text from %#v.
func (s Secret) GoString() string { return redacted }

// MarshalText hides the text from every encoder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue hides the text from structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// secretFile reads the file that the node names, less the line's end at its own.
// Problems name the path as it stands in the config.
func (p *parser) secretFile(key string, n *node) (string, *Problem) {
	if problem := mismatch(key, n, isText); problem != nil {
		return "", problem
	}
	if n.text == "" {
		problem := n.problem("%s is empty; want the path of a file", key)
		return "", &problem
	}
	data, err := readFile(p.path(n.text), maxSecretFile)
	text := strings.TrimRight(string(data), "\r\n")
	var problem Problem
	switch {
	case err != nil:
		if inner, ok := errors.AsType[*fs.PathError](err); ok {
			err = inner.Err
		}
		problem = n.problem("%s: cannot read %s: %v", key, n.quote(), err)
	case len(data) > maxSecretFile:
		problem = n.problem("%s: the file %s is larger than 64 KiB", key, n.quote())
	case strings.TrimSpace(text) == "":
		problem = n.problem("%s: the file %s is empty", key, n.quote())
	case !utf8.ValidString(text):
		problem = n.problem("%s: the file %s is not UTF-8 text", key, n.quote())
	default:
		p.secretFiles = append(p.secretFiles, p.path(n.text))
		return text, nil
	}
	return "", &problem
}
