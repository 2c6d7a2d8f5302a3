package mastodon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bot/poster"
)

const (
	// usualMax and usualURL are Mastodon's own: how long a status may be, and what
	// an address counts as.
	usualMax, usualURL = 500, 23
	// mostMax is the longest limit that is believed.
	mostMax = 100_000
	// learntFor is how long what a server said is not asked for again, and learnLimit
	// bounds the asking.
	learntFor, learnLimit = 24 * time.Hour, 15 * time.Second
	// known is the software that takes a post with an Idempotency-Key once.
	known = "mastodon"
)

// limits are what a server takes. Zero: it did not say.
type limits struct {
	Max int `json:"max_characters"`
	URL int `json:"characters_reserved_per_url"`
}

// learnt is what a server said of itself, as it is kept between runs.
type learnt struct {
	Server string    `json:"server"`
	At     time.Time `json:"at"`
	Limits limits    `json:"limits"`
	// Software is the server's, by its NodeInfo. Empty: it did not say.
	Software string `json:"software"`
}

// limits returns those that hold: the config's, else the server's, else the usual.
func (d *mastodon) limits() limits {
	var said limits
	if all := d.learnt.Load(); all != nil {
		said = all.Limits
	}
	return limits{first(d.set.MaxCharacters, said.Max, usualMax), first(d.set.URLCharacters, said.URL, usualURL)}
}

func first(numbers ...int) int {
	for _, n := range numbers {
		if n != 0 {
			return n
		}
	}
	return 0
}

// honoursKeys reports whether the server takes a post with an Idempotency-Key once:
// by the config, else by what it calls itself.
func (d *mastodon) honoursKeys() bool {
	if d.set.Software != "" {
		return d.set.Software == known
	}
	said := d.learnt.Load()
	return said != nil && said.Software == known
}

// Learn asks the server for its limits and its software, unless the config says them
// or the server said them in the last day. What cannot be learnt stays as it was.
func (d *mastodon) Learn(ctx context.Context) {
	if d.set.MaxCharacters != 0 && d.set.URLCharacters != 0 && d.set.Software != "" || d.fresh(d.learnt.Load()) {
		return
	}
	if kept := d.load(); kept != nil {
		d.learnt.Store(kept)
		if d.fresh(kept) {
			return
		}
	}
	ctx, cancel := context.WithTimeout(ctx, learnLimit)
	defer cancel()
	said, err := d.instance(ctx)
	if err != nil || !said.believable() {
		return
	}
	all := &learnt{d.set.Server, d.client.Now().UTC(), said, d.software(ctx)}
	d.learnt.Store(all)
	d.save(all)
}

func (d *mastodon) fresh(said *learnt) bool {
	return said != nil && d.client.Now().Sub(said.At).Abs() < learntFor
}

// instance asks the server what it takes: in the form of Mastodon 4, of which
// GoToSocial speaks too, else in the older one, with Pleroma's own name in it.
func (d *mastodon) instance(ctx context.Context) (limits, error) {
	var err error
	for _, path := range []string{"/api/v2/instance", "/api/v1/instance"} {
		var said struct {
			Configuration struct {
				Statuses limits `json:"statuses"`
			} `json:"configuration"`
			Pleroma int `json:"max_toot_chars"`
		}
		err = d.client.Get(ctx, d.at(path), poster.JSONHeader(d.set.Token), &said)
		of := said.Configuration.Statuses
		of.Max = first(of.Max, said.Pleroma)
		if err == nil && of.believable() {
			return of, nil
		}
	}
	return limits{}, err
}

// software asks the server what it calls itself (https://nodeinfo.diaspora.software).
func (d *mastodon) software(ctx context.Context) string {
	var said struct {
		Software struct {
			Name string `json:"name"`
		} `json:"software"`
	}
	if d.client.Get(ctx, d.at("/nodeinfo/2.0"), poster.JSONHeader(poster.Secret{}), &said) != nil {
		return ""
	}
	return strings.ToLower(said.Software.Name)
}

// believable reports whether a text with a link has room within the limits.
func (l limits) believable() bool {
	return l.Max > 0 && l.Max <= mostMax && l.URL >= 0 && l.URL < l.Max/2
}

func (d *mastodon) path() string { return filepath.Join(d.o.Dir, "limits", d.o.Destination+".json") }

// load reads what the server said in an earlier run. Nil: nothing that is of use.
func (d *mastodon) load() *learnt {
	if d.o.Dir == "" {
		return nil
	}
	data, err := os.ReadFile(d.path())
	var kept learnt
	if err != nil || json.Unmarshal(data, &kept) != nil || kept.Server != d.set.Server || !kept.Limits.believable() {
		return nil
	}
	return &kept
}

// save keeps what the server said. Without it the server is asked again, no harm, so
// an error is none.
func (d *mastodon) save(said *learnt) {
	data, err := json.Marshal(said)
	if d.o.Dir == "" || err != nil {
		return
	}
	// The directory itself is not made: what is not there is somebody else's to open.
	if err := os.Mkdir(filepath.Dir(d.path()), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(d.path()), ".limits-*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), d.path())
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}
