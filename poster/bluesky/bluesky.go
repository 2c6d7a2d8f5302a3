// Package bluesky announces with an account on Bluesky, or on another server of
// the AT Protocol (https://docs.bsky.app/docs/advanced-guides/posts).
package bluesky

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"bot/poster"
)

const (
	// maxGraphemes and maxBytes are how long a post's text may be
	// (lexicons/app/bsky/feed/post.json).
	maxGraphemes, maxBytes = 300, 3000
	// maxLanguages is how many languages a post may name.
	maxLanguages = 3
	// honoured is for how long a repeated record is one record. The server compares
	// it with what is there, which is so for ever; older messages are left to people.
	honoured = 7 * 24 * time.Hour

	collection = "app.bsky.feed.post"
)

// How long the parts of a card are. The lexicon sets no limit, but a summary may be a
// whole article, and clients show the beginning.
var (
	cardTitle   = poster.Limit{Max: 300, Unit: poster.Graphemes}
	cardSummary = poster.Limit{Max: 500, Unit: poster.Graphemes}
)

// Driver makes posters for Bluesky.
func Driver() poster.Driver { return poster.Driver{Name: "bluesky", New: open} }

type settings struct {
	Server     string        `yaml:"server"`
	Identifier string        `yaml:"identifier"`
	Password   poster.Secret `yaml:"password"`
	Languages  []string      `yaml:"languages"`
	Image      bool          `yaml:"image"`
}

// account is one account.
type account struct {
	o   poster.Options
	set settings
	// current knows the session's tokens as secrets as well.
	current atomic.Pointer[poster.Client]

	mu sync.Mutex
	// session is behind a pointer, so that it is not printed with the account. Nil
	// before the first is opened.
	session *session
}

func (a *account) client() *poster.Client { return a.current.Load() }

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	set := settings{Server: "https://bsky.social", Image: true}
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	set.Identifier = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(set.Identifier), "@"))
	errs := []error{poster.CheckAddress(s, "server", poster.NewSecret(set.Server))}
	if set.Identifier == "" {
		errs = append(errs, s.Errorf("identifier", "identifier is required: the account's handle, such as news.bsky.social"))
	}
	if set.Password.IsZero() {
		errs = append(errs, s.Errorf("password", "password is required: an app password, not the account's own"))
	}
	if len(set.Languages) > maxLanguages {
		errs = append(errs, s.Errorf("languages", "languages are at most %d", maxLanguages))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	set.Server = poster.BaseAddress(set.Server)
	a := &account{o: o, set: set}
	a.current.Store(poster.NewClient(o, set.Password))
	return a, nil
}

func (a *account) Traits() poster.Traits {
	return poster.Traits{
		Identity:   poster.NewSecret("bluesky:" + a.set.Server + " " + a.set.Identifier),
		Idempotent: honoured,
		Resend:     true,
		Limit:      poster.Limit{Max: maxGraphemes, Unit: poster.Graphemes, MaxBytes: maxBytes},
	}
}

// put is a request that makes a record, but for the account's own ID, which is put
// in when it goes out. It is frozen: its key and its time with it. That swapRecord
// is null says that nothing may be there yet, so that the same record again changes
// nothing, and another one is refused.
type put struct {
	Collection string  `json:"collection"`
	Key        string  `json:"rkey"`
	Record     record  `json:"record"`
	Swap       *string `json:"swapRecord"`
}

type record struct {
	Type      string   `json:"$type"`
	Text      string   `json:"text"`
	CreatedAt string   `json:"createdAt"`
	Languages []string `json:"langs,omitempty"`
	Facets    []facet  `json:"facets,omitempty"`
	Embed     *embed   `json:"embed,omitempty"`
}

type embed struct {
	Type     string   `json:"$type"`
	External external `json:"external"`
}

type external struct {
	URI         string          `json:"uri"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Thumb       json.RawMessage `json:"thumb,omitempty"`
}

// Render makes the record, with a card for the article and a key of this moment.
func (a *account) Render(p poster.Post) (poster.Message, error) {
	now := a.client().Now()
	title := poster.FitLine(p.Article.Title, cardTitle, nil)
	if title == "" {
		title = p.Article.URL
	}
	r := record{
		Type: collection, Text: p.Text, CreatedAt: now.UTC().Format("2006-01-02T15:04:05.000Z"),
		Languages: a.set.Languages, Facets: facets(p.Text, p.Article.URL),
	}
	if p.Article.URL != "" {
		r.Embed = &embed{"app.bsky.embed.external", external{
			URI: p.Article.URL, Title: title, Description: poster.FitLine(p.Article.Summary, cardSummary, nil),
		}}
	}
	body, err := poster.JSON(put{Collection: collection, Key: tid(now, p.ID), Record: r})
	return poster.Message{ID: p.ID, Text: p.Text, Body: body}, err
}

// Post puts the record. A server that refuses the session's token did nothing, so
// then it is put again with a new one, once.
func (a *account) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	s, r, err := a.withSession(ctx, func(s session) (poster.Response, error) {
		body := append([]byte(`{"repo":"`+s.DID+`",`), bytes.TrimPrefix(m.Body, []byte("{"))...)
		return a.client().Do(ctx, poster.Request{
			URL: a.method("com.atproto.repo.putRecord", nil), Header: poster.JSONHeader(s.Access), Body: body,
		})
	})
	if err != nil {
		return poster.Receipt{}, err
	}
	var said answer
	known := json.Unmarshal(r.Body, &said) == nil
	switch {
	case r.Status >= 200 && r.Status < 300:
		if known && said.URI != "" || r.Torn && bytes.HasPrefix(r.Body, []byte("{")) {
			return a.receipt(s, m), nil
		}
		return poster.Receipt{}, a.client().NoReceipt(r)
	case said.stale():
		return poster.Receipt{}, a.client().Fail(poster.Later, r, "the server does not take the session", "")
	case said.Error == "BlobNotFound":
		return poster.Receipt{}, a.client().Fail(poster.Later, r, "the picture has to be brought again", "")
	case said.Error == "InvalidSwap":
		return a.swapped(ctx, s, m, r)
	}
	return poster.Receipt{}, a.client().Classify(r)
}

// swapped finds out whose record is in the way of ours.
func (a *account) swapped(ctx context.Context, s session, m poster.Message, r poster.Response) (poster.Receipt, error) {
	switch presence, _ := a.look(ctx, s, m); presence {
	case poster.Found:
		return a.receipt(s, m), nil
	case poster.CannotTell:
		return poster.Receipt{}, a.client().Fail(poster.Unknown, r, "a record is there already, and it cannot be read", "")
	default:
		return poster.Receipt{}, a.client().Fail(poster.RejectedContent, r, "another record is there already", "")
	}
}

func (a *account) receipt(s session, m poster.Message) poster.Receipt {
	var p put
	if json.Unmarshal(m.Body, &p) != nil || s.DID == "" {
		return poster.Receipt{}
	}
	return a.client().Receipt("at://"+s.DID+"/"+p.Collection+"/"+p.Key, "https://bsky.app/profile/"+s.DID+"/post/"+p.Key)
}

// look asks for the record, for which no session is needed. It is Absent when
// there is none or another one.
func (a *account) look(ctx context.Context, s session, m poster.Message) (poster.Presence, error) {
	var ours put
	if err := json.Unmarshal(m.Body, &ours); err != nil {
		return poster.CannotTell, err
	}
	r, err := a.client().Do(ctx, poster.Request{
		Method: http.MethodGet,
		URL:    a.method("com.atproto.repo.getRecord", url.Values{"repo": {s.DID}, "collection": {ours.Collection}, "rkey": {ours.Key}}),
	})
	if err != nil {
		return poster.CannotTell, err
	}
	var said answer
	known := json.Unmarshal(r.Body, &said) == nil
	switch {
	case said.Error == "RecordNotFound":
		return poster.Absent, nil
	case r.Status == http.StatusOK && known && said.Value != nil:
		if said.Value.Text == ours.Record.Text && said.Value.CreatedAt == ours.Record.CreatedAt {
			return poster.Found, nil
		}
		return poster.Absent, nil
	}
	return poster.CannotTell, a.client().Classify(r)
}

// Verify asks for the record by its key.
func (a *account) Verify(ctx context.Context, m poster.Message, _ time.Time) (poster.Presence, poster.Receipt, error) {
	s, err := a.open(ctx)
	if err != nil {
		return poster.CannotTell, poster.Receipt{}, err
	}
	presence, err := a.look(ctx, s, m)
	if presence != poster.Found {
		return presence, poster.Receipt{}, err
	}
	return presence, a.receipt(s, m), nil
}

// Check asks whose session it is, after a login if there is none.
func (a *account) Check(ctx context.Context) error {
	_, r, err := a.withSession(ctx, func(s session) (poster.Response, error) {
		return a.client().Do(ctx, poster.Request{
			Method: http.MethodGet, URL: a.method("com.atproto.server.getSession", nil), Header: poster.JSONHeader(s.Access),
		})
	})
	if err != nil {
		return err
	}
	return a.client().Classify(r)
}

func (a *account) method(name string, query url.Values) poster.Secret {
	address := a.set.Server + "/xrpc/" + name
	if query != nil {
		address += "?" + query.Encode()
	}
	return poster.NewSecret(address)
}

// answer is what the server says, of a record or of an error.
type answer struct {
	Error string `json:"error"`
	URI   string `json:"uri"`
	Value *struct {
		Text      string `json:"text"`
		CreatedAt string `json:"createdAt"`
	} `json:"value"`
}

// stale reports whether the server refused the session's token, and nothing else.
func (s answer) stale() bool { return s.Error == "ExpiredToken" || s.Error == "InvalidToken" }
