// Package mastodon announces with an account on Mastodon, or on a server that
// speaks its API, such as GoToSocial or Pleroma
// (https://docs.joinmastodon.org/methods/statuses/#create).
package mastodon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"strings"
	"sync/atomic"
	"time"

	"bot/poster"
)

const (
	// page is how many of the account's newest statuses are looked at.
	page = 40
	// resendFor is for how long an Idempotency-Key is trusted. Mastodon keeps it for an
	// hour from when it took the post.
	resendFor = 50 * time.Minute
)

// Driver makes posters for Mastodon.
func Driver() poster.Driver { return poster.Driver{Name: "mastodon", New: open} }

type settings struct {
	Server        string        `yaml:"server"`
	Token         poster.Secret `yaml:"token"`
	Account       string        `yaml:"account"`
	Visibility    string        `yaml:"visibility"`
	Language      string        `yaml:"language"`
	Sensitive     string        `yaml:"content_warning"`
	Software      string        `yaml:"software"`
	MaxCharacters int           `yaml:"max_characters"`
	URLCharacters int           `yaml:"url_characters"`
	Image         bool          `yaml:"image"`
}

// mastodon is one account.
type mastodon struct {
	client *poster.Client
	set    settings
	// learnt is what the server said of its limits. Nil: nothing yet.
	learnt atomic.Pointer[learnt]
	o      poster.Options
}

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	set := settings{Visibility: "public"}
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	errs := []error{poster.CheckAddress(s, "server", poster.NewSecret(set.Server))}
	if set.Token.IsZero() {
		errs = append(errs, s.Errorf("token", "token is required: an access token that may write statuses"))
	}
	if set.Account = accountName(set.Account); set.Account != "" && !localName(set.Account) {
		errs = append(errs, s.Errorf("account", "account is the account's name, such as @news"))
	}
	if v := set.Visibility; v != "public" && v != "unlisted" && v != "private" {
		errs = append(errs, s.Errorf("visibility", "visibility is public, unlisted or private, not %q", v))
	}
	if v := set.Software; v != "" && v != known && v != "other" {
		errs = append(errs, s.Errorf("software", "software is mastodon or other, not %q", v))
	}
	if set.URLCharacters < 0 {
		errs = append(errs, s.Errorf("url_characters", "url_characters is at least 1"))
	}
	most, address := first(set.MaxCharacters, usualMax), first(set.URLCharacters, usualURL)
	if most-set.used() <= address {
		key := "max_characters"
		if set.MaxCharacters == 0 {
			key = "content_warning"
		}
		errs = append(errs, s.Errorf(key, "%s leaves no room for a link", key))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	set.Server = poster.BaseAddress(set.Server)
	return &mastodon{client: poster.NewClient(o, set.Token), set: set, o: o}, nil
}

// used is what the content warning takes of the limit.
func (s settings) used() int { return poster.Limit{Unit: poster.Graphemes}.Count(s.Sensitive) }

// localName reports whether this is an account's name on its own server.
func localName(name string) bool {
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_.-") == ""
}

// accountName returns an account's name without @ and without its server.
func accountName(text string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "@"), "@")
	return strings.ToLower(name)
}

// identity is the server and, where it is named, the account. Tokens are renewed,
// and stand for no one.
func (d *mastodon) identity(account string) poster.Secret {
	return poster.NewSecret(strings.TrimSpace("mastodon:" + d.set.Server + " " + account))
}

// former are what it was before: known by its token, and perhaps without a name.
func (d *mastodon) former() []poster.Secret {
	all := []poster.Secret{poster.NewSecret(d.set.Server + " " + d.set.Token.Reveal())}
	if d.set.Account != "" {
		all = append(all, d.identity(""))
	}
	return all
}

func (d *mastodon) Traits() poster.Traits {
	hold := d.limits()
	return poster.Traits{
		Identity: d.identity(d.set.Account),
		Former:   d.former(),
		Apart:    "account",
		// Mastodon knows an Idempotency-Key for an hour, but has been seen to publish
		// twice or to answer 500 all the same; other servers ignore it. So a status is
		// looked for first, and sent again only where the key is known.
		Resend:    d.honoursKeys(),
		ResendFor: resendFor,
		Limit:     poster.Limit{Max: hold.Max - d.set.used(), Unit: poster.Graphemes, URL: hold.URL},
		Escape:    poster.NoMentions,
	}
}

// status is what is published.
type status struct {
	Status     string   `json:"status"`
	Visibility string   `json:"visibility"`
	Language   string   `json:"language,omitempty"`
	Spoiler    string   `json:"spoiler_text,omitempty"`
	Media      []string `json:"media_ids,omitempty"`
}

func (d *mastodon) Render(p poster.Post) (poster.Message, error) {
	body, err := poster.JSON(status{p.Text, d.set.Visibility, d.set.Language, d.set.Sensitive, nil})
	return poster.Message{ID: p.ID, Text: p.Text, Body: body}, err
}

// Post sends the status. One that the server certainly does not take with its picture,
// which it may have thrown away by now, goes out once more without.
func (d *mastodon) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	r, err := d.send(ctx, m.ID, m.Body)
	if err != nil {
		return poster.Receipt{}, err
	}
	if bare, had := poster.Without(m.Body, "media_ids"); had && (r.Status == 400 || r.Status == 404 || r.Status == 422) {
		if r, err = d.send(ctx, m.ID, bare); err != nil {
			return poster.Receipt{}, err
		}
	}
	if r.Status == 503 {
		// Mastodon also answers so when another request of the same key is at work.
		return poster.Receipt{}, d.client.Fail(poster.Unknown, r, "the server had an error and may have published the status", "")
	}
	if err := d.client.Classify(r); err != nil {
		return poster.Receipt{}, err
	}
	var said published
	if json.Unmarshal(r.Body, &said) == nil && said.ID != "" || r.Torn && bytes.HasPrefix(r.Body, []byte("{")) {
		return d.client.Receipt(said.ID, said.URL), nil
	}
	return poster.Receipt{}, d.client.NoReceipt(r)
}

func (d *mastodon) send(ctx context.Context, key string, body []byte) (poster.Response, error) {
	header := poster.JSONHeader(d.set.Token)
	header.Set("Idempotency-Key", key)
	return d.client.Do(ctx, poster.Request{URL: d.at("/api/v1/statuses"), Header: header, Body: body})
}

func (d *mastodon) at(path string) poster.Secret { return poster.NewSecret(d.set.Server + path) }

// Check asks whose token it is, and compares the limits with the server's own.
func (d *mastodon) Check(ctx context.Context) error {
	who, err := d.account(ctx)
	if err != nil {
		return err
	}
	if name := accountName(who.Name); d.set.Account != "" && name != d.set.Account {
		return &poster.Error{Outcome: poster.RejectedDestination, Reason: d.client.Redact(fmt.Sprintf(
			"the token is that of @%s, not of @%s; set account or token", name, d.set.Account))}
	}
	said, err := d.instance(ctx)
	if err != nil {
		return err
	}
	if said.Max == 0 {
		return nil
	}
	if said.Max < d.set.MaxCharacters || d.set.URLCharacters != 0 && said.URL > d.set.URLCharacters {
		return &poster.Error{Outcome: poster.RejectedDestination, Reason: fmt.Sprintf(
			"the server takes %d characters and counts an address as %d; set max_characters: %d and url_characters: %d, or neither",
			said.Max, said.URL, said.Max, said.URL)}
	}
	return nil
}

// owner is whose token it is.
type owner struct {
	ID   string `json:"id"`
	Name string `json:"username"`
}

func (d *mastodon) account(ctx context.Context) (owner, error) {
	var who owner
	err := d.client.Get(ctx, d.at("/api/v1/accounts/verify_credentials"), poster.JSONHeader(d.set.Token), &who)
	if err == nil && who.ID == "" {
		err = &poster.Error{Reason: "the server does not say whose token it is"}
	}
	return who, err
}

// published is a status as the server gives it.
type published struct {
	ID        string    `json:"id"`
	URL       string    `json:"url"`
	CreatedAt time.Time `json:"created_at"`
	Content   string    `json:"content"`
	Card      struct {
		URL string `json:"url"`
	} `json:"card"`
}

// Verify looks for the message's link among the account's newest statuses. It
// needs a token that may read accounts and statuses.
func (d *mastodon) Verify(ctx context.Context, m poster.Message, since time.Time) (poster.Presence, poster.Receipt, error) {
	link := poster.LastAddress(m.Text)
	if link == "" {
		return poster.CannotTell, poster.Receipt{}, nil
	}
	who, err := d.account(ctx)
	if err != nil {
		return poster.CannotTell, poster.Receipt{}, err
	}
	var all []published
	path := fmt.Sprintf("/api/v1/accounts/%s/statuses?limit=%d&exclude_reblogs=true", pathPart(who.ID), page)
	if err := d.client.Get(ctx, d.at(path), poster.JSONHeader(d.set.Token), &all); err != nil {
		return poster.CannotTell, poster.Receipt{}, err
	}
	var oldest time.Time
	for _, s := range all {
		if poster.Recent(s.CreatedAt, since) && (s.Card.URL == link || strings.Contains(html.UnescapeString(s.Content), `href="`+link+`"`)) {
			return poster.Found, d.client.Receipt(s.ID, s.URL), nil
		}
		oldest = s.CreatedAt
	}
	// Servers may give fewer than were asked for, so only an empty list is known to
	// be all there is.
	return poster.Covers(since, oldest, all != nil && len(all) == 0), poster.Receipt{}, nil
}

// pathPart keeps of an ID what IDs are made of.
func pathPart(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, id)
}
