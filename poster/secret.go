package poster

import "log/slog"

const redacted = "[redacted]"

// Secret is a text that must not be seen. However it is printed, encoded or
// logged, it shows as [redacted]; only Reveal gives the text.
type Secret struct {
	// A pointer, since fmt prints a field that is not exported without asking for
	// its String, and of a pointer inside a struct it prints the address only.
	text *string
}

// NewSecret returns the secret that holds text.
func NewSecret(text string) Secret { return Secret{&text} }

// SetSecret sets the text. It marks the type, for whoever decodes settings, as
// one that may also be read from a file.
func (s *Secret) SetSecret(text string) { s.text = &text }

// Reveal returns the text, to be used and not to be kept.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether there is no text.
func (s Secret) IsZero() bool { return s.Reveal() == "" }

// String hides the text.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return redacted
}

// GoString hides the text from %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the text from every encoder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the text from structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
