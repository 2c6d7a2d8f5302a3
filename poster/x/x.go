// Package x announces with an account on X, through its API v2
// (https://docs.x.com/x-api/posts/create-post).
package x

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"bot/poster"
)

const (
	// maxWeight is how long a post may be, and urlWeight what an address counts as
	// (https://docs.x.com/fundamentals/counting-characters).
	maxWeight, urlWeight = 280, 23
	// page is how many of the account's newest posts are looked at.
	page = "10"
)

// Driver makes posters for X.
func Driver() poster.Driver { return poster.Driver{Name: "x", New: open} }

type settings struct {
	ConsumerKey    poster.Secret `yaml:"consumer_key"`
	ConsumerSecret poster.Secret `yaml:"consumer_secret"`
	AccessToken    poster.Secret `yaml:"access_token"`
	AccessSecret   poster.Secret `yaml:"access_secret"`
	Server         string        `yaml:"server"`
	Paid           bool          `yaml:"paid"`
	Image          bool          `yaml:"image"`
}

// account is one account.
type account struct {
	client *poster.Client
	set    settings
	server string
	o      poster.Options
}

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	set := settings{Server: "https://api.x.com"}
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	errs := []error{poster.CheckAddress(s, "server", poster.NewSecret(set.Server))}
	for _, key := range []struct {
		name   string
		secret poster.Secret
	}{
		{"consumer_key", set.ConsumerKey}, {"consumer_secret", set.ConsumerSecret},
		{"access_token", set.AccessToken}, {"access_secret", set.AccessSecret},
	} {
		if key.secret.IsZero() {
			errs = append(errs, s.Errorf(key.name, "%s is required: one of the app's four keys (OAuth 1.0a)", key.name))
		}
	}
	if !set.Paid {
		errs = append(errs, s.Errorf("paid", "X bills every post, and one with a link the most; say paid: true to agree"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	client := poster.NewClient(o, set.ConsumerKey, set.ConsumerSecret, set.AccessToken, set.AccessSecret)
	return &account{client, set, poster.BaseAddress(set.Server), o}, nil
}

// userID is the account's number, with which every access token begins, or "".
func (a *account) userID() string {
	id, _, ok := strings.Cut(a.set.AccessToken.Reveal(), "-")
	if !ok || strings.Trim(id, "0123456789") != "" {
		return ""
	}
	return id
}

func (a *account) Traits() poster.Traits {
	who := a.userID()
	if who == "" {
		who = a.set.AccessToken.Reveal()
	}
	return poster.Traits{
		Identity: poster.NewSecret("x:" + who),
		Limit:    poster.Limit{Max: maxWeight, Unit: poster.Weighted, URL: urlWeight},
		Escape:   poster.NoMentions,
	}
}

// post is what is published.
type post struct {
	Text  string `json:"text"`
	Media *media `json:"media,omitempty"`
}

type media struct {
	IDs []string `json:"media_ids"`
}

func (a *account) Render(p poster.Post) (poster.Message, error) {
	body, err := poster.JSON(post{Text: p.Text})
	return poster.Message{ID: p.ID, Text: p.Text, Body: body}, err
}

func (a *account) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	r, err := a.do(ctx, call{http.MethodPost, "/2/tweets", nil, jsonKind, m.Body})
	if err != nil {
		return poster.Receipt{}, err
	}
	if bare, had := poster.Without(m.Body, "media"); had && r.Status == http.StatusBadRequest && bytes.Contains(r.Body, []byte("media")) {
		// It does not take the picture, which it may have thrown away, and nothing was
		// published.
		if r, err = a.do(ctx, call{http.MethodPost, "/2/tweets", nil, jsonKind, bare}); err != nil {
			return poster.Receipt{}, err
		}
	}
	switch {
	case r.Status == http.StatusForbidden && bytes.Contains(r.Body, []byte("duplicate content")):
		return poster.Receipt{}, a.client.Duplicate(r, "the account has posted the same text before")
	case r.Status == http.StatusForbidden && bytes.Contains(r.Body, []byte("cashtag")):
		return poster.Receipt{}, a.client.Fail(poster.RejectedContent, r, "X takes one cashtag in a post", "")
	case bytes.Contains(r.Body, []byte("usage-capped")):
		// It comes with 429, and is over with the month, not in a while.
		return poster.Receipt{}, a.client.Fail(poster.RejectedDestination, r, "the plan's posts are used up", "wait for the next month, or raise the app's cap")
	}
	if err := a.client.Classify(r); err != nil {
		return poster.Receipt{}, err
	}
	var said struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(r.Body, &said) == nil && said.Data.ID != "" || r.Torn && bytes.HasPrefix(r.Body, []byte("{")) {
		return a.receipt(said.Data.ID), nil
	}
	return poster.Receipt{}, a.client.NoReceipt(r)
}

func (a *account) receipt(id string) poster.Receipt {
	if id == "" {
		return poster.Receipt{}
	}
	return a.client.Receipt(id, "https://x.com/i/status/"+url.PathEscape(id))
}

// call is a request to X.
type call struct {
	method, path string
	query        url.Values
	// kind is the media type of the body.
	kind string
	body []byte
}

const jsonKind = "application/json"

// do makes a signed request.
func (a *account) do(ctx context.Context, c call) (poster.Response, error) {
	address := a.server + c.path
	header := http.Header{"Content-Type": {c.kind}}
	header.Set("Authorization", a.set.sign(c.method, address, c.query, a.client.Now(), nonce()))
	if len(c.query) > 0 {
		address += "?" + c.query.Encode()
	}
	return a.client.Do(ctx, poster.Request{Method: c.method, URL: poster.NewSecret(address), Header: header, Body: c.body})
}

// Check asks whose keys they are.
func (a *account) Check(ctx context.Context) error {
	r, err := a.do(ctx, call{http.MethodGet, "/2/users/me", nil, jsonKind, nil})
	if err != nil {
		return err
	}
	return a.client.Classify(r)
}

// Verify looks for the message's link among the account's newest posts. Each post
// that X gives is billed.
func (a *account) Verify(ctx context.Context, m poster.Message, since time.Time) (poster.Presence, poster.Receipt, error) {
	link, id := poster.LastAddress(m.Text), a.userID()
	if link == "" || id == "" {
		return poster.CannotTell, poster.Receipt{}, nil
	}
	r, err := a.do(ctx, call{http.MethodGet, "/2/users/" + id + "/tweets",
		url.Values{"max_results": {page}, "tweet.fields": {"created_at,entities"}}, jsonKind, nil})
	if err == nil {
		err = a.client.Classify(r)
	}
	if err != nil {
		return poster.CannotTell, poster.Receipt{}, err
	}
	var said struct {
		Data []struct {
			ID        string    `json:"id"`
			CreatedAt time.Time `json:"created_at"`
			Entities  struct {
				URLs []struct {
					Expanded string `json:"expanded_url"`
				} `json:"urls"`
			} `json:"entities"`
		} `json:"data"`
	}
	if json.Unmarshal(r.Body, &said) != nil {
		return poster.CannotTell, poster.Receipt{}, a.client.NoReceipt(r)
	}
	var oldest time.Time
	for _, p := range said.Data {
		for _, u := range p.Entities.URLs {
			if u.Expanded == link && poster.Recent(p.CreatedAt, since) {
				return poster.Found, a.receipt(p.ID), nil
			}
		}
		oldest = p.CreatedAt
	}
	return poster.Covers(since, oldest, false), poster.Receipt{}, nil
}
