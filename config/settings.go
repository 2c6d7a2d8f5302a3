package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"
)

// Settings are one destination's own settings, for its platform to decode.
type Settings struct {
	Spot
	p *parser
	// own holds the destination's fields but the common ones.
	own  *node
	kind string
}

// settings returns what of the destination's section is the platform's own.
func (p *parser) settings(s *section, kind string) *Settings {
	own := &node{place: s.n.place, kind: isMapping}
	for _, f := range s.n.fields {
		if !slices.Contains(commonKeys(), f.key) {
			own.fields = append(own.fields, f)
		}
	}
	return &Settings{Spot: s.spot(), p: p, own: own, kind: kind}
}

// Decode fills the struct that into points to, by the yaml tags of its fields.
// A key that no field has is a problem, and so is a value of another kind than
// the field's; all problems are returned, as Problems.
//
// Fields can be strings, bools, ints, floats, durations, and structs, slices,
// pointers and maps by string of them. `yaml:"name,required"` asks for a value. A
// type whose pointer has SetSecret(string) takes a text that no problem quotes,
// and may as well be given as NAME_file, the path of a file that holds it; a list
// of such is then one on each line.
func (s *Settings) Decode(into any) error { return Join(s.p.decode(s.own, into, commonKeys()...)) }

// Errorf returns a Problem at the value of the named setting, at that of
// NAME_file if it was given so, or where the destination begins.
func (s *Settings) Errorf(key, format string, args ...any) error {
	if _, ok := s.values[key]; !ok {
		if _, ok := s.values[key+fileSuffix]; ok {
			key += fileSuffix
		}
	}
	return s.Spot.Errorf(key, format, args...)
}

// Fingerprint returns 32 hex digits that change when a setting changes, or what a
// file named by one holds. The settings cannot be had from it.
func (s *Settings) Fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", s.kind)
	s.p.hash(h, s.own)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// hash writes the node in a form in which no two nodes look alike. The order of
// keys is of no matter.
func (p *parser) hash(h hash.Hash, n *node) {
	fields := slices.SortedFunc(slices.Values(n.fields), func(a, b field) int { return strings.Compare(a.key, b.key) })
	fmt.Fprintf(h, "%s %q %d %d\n", n.kind, n.text, len(fields), len(n.items))
	for _, f := range fields {
		fmt.Fprintf(h, "%q ", f.key)
		p.hash(h, f.value)
		if strings.HasSuffix(f.key, fileSuffix) && f.value.kind == isText {
			if data, err := readFile(p.path(f.value.text), maxSecretFile); err == nil {
				fmt.Fprintf(h, "%q\n", data)
			}
		}
	}
	for _, item := range n.items {
		p.hash(h, item)
	}
}
