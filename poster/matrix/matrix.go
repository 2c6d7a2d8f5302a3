// Package matrix announces in a Matrix room
// (https://spec.matrix.org/latest/client-server-api/#sending-events-to-a-room).
package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"

	"bot/poster"
)

const (
	// maxText leaves room for the rest in the 65,536 bytes of an event, since JSON
	// may write a text at twice its length.
	maxText = 30_000
	// page is how many of the room's newest events are looked at.
	page = 100
)

// Driver makes posters for Matrix.
func Driver() poster.Driver { return poster.Driver{Name: "matrix", New: open} }

type settings struct {
	Server string        `yaml:"server"`
	Room   string        `yaml:"room"`
	Token  poster.Secret `yaml:"token"`
	Notice bool          `yaml:"notice"`
	Image  bool          `yaml:"image"`
}

// matrix is one room.
type matrix struct {
	client *poster.Client
	set    settings
	o      poster.Options
}

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	errs := []error{poster.CheckAddress(s, "server", poster.NewSecret(set.Server))}
	if !strings.HasPrefix(set.Room, "!") {
		errs = append(errs, s.Errorf("room", "room is required: the room's ID, which begins with ! (an alias with # is not one)"))
	}
	if set.Token.IsZero() {
		errs = append(errs, s.Errorf("token", "token is required: an access token of the account that posts"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	set.Server = poster.BaseAddress(set.Server)
	return &matrix{poster.NewClient(o, set.Token), set, o}, nil
}

func (x *matrix) Traits() poster.Traits {
	return poster.Traits{
		Identity: poster.NewSecret("matrix:" + x.set.Server + "/" + x.set.Room),
		Resend:   true,
		Limit:    poster.Limit{Max: maxText, Unit: poster.Bytes},
	}
}

// content is an event's content. Its mentions are given and empty, so that nobody
// is notified, whatever the text says; by its key the event is found again.
type content struct {
	Type     string   `json:"msgtype"`
	Body     string   `json:"body"`
	Mentions struct{} `json:"m.mentions"`
	Key      string   `json:"bot.key"`
	// What follows is of a picture, whose caption the body then is.
	File string `json:"filename,omitempty"`
	URL  string `json:"url,omitempty"`
	Info *info  `json:"info,omitempty"`
}

// info is what a picture is.
type info struct {
	Kind   string `json:"mimetype"`
	Size   int    `json:"size"`
	Width  int    `json:"w,omitempty"`
	Height int    `json:"h,omitempty"`
}

func (x *matrix) Render(p poster.Post) (poster.Message, error) {
	kind := "m.text"
	if x.set.Notice {
		kind = "m.notice"
	}
	body, err := poster.JSON(content{Type: kind, Body: p.Text, Key: p.ID})
	return poster.Message{ID: p.ID, Text: p.Text, Body: body}, err
}

// path is the address of something of the room.
func (x *matrix) path(parts string) poster.Secret {
	return poster.NewSecret(x.set.Server + "/_matrix/client/v3/rooms/" + url.PathEscape(x.set.Room) + parts)
}

// Post sends the event under the message's ID as its transaction.
func (x *matrix) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	r, err := x.client.Do(ctx, poster.Request{
		Method: http.MethodPut, URL: x.path("/send/m.room.message/" + url.PathEscape(m.ID)),
		Header: poster.JSONHeader(x.set.Token), Body: m.Body,
	})
	if err != nil {
		return poster.Receipt{}, err
	}
	var said struct {
		EventID      string  `json:"event_id"`
		Code         string  `json:"errcode"`
		RetryAfterMS float64 `json:"retry_after_ms"`
	}
	known := json.Unmarshal(r.Body, &said) == nil
	if r.Status == http.StatusTooManyRequests && said.RetryAfterMS > 0 && r.Header.Get("Retry-After") == "" {
		// The older form, in milliseconds.
		r.Header.Set("Retry-After", fmt.Sprintf("%.0f", math.Ceil(said.RetryAfterMS/1000)))
	}
	if r.Status == http.StatusBadRequest && said.Code == "M_UNSUPPORTED_ROOM_VERSION" {
		// So says Dendrite of a room that it does not know.
		return poster.Receipt{}, x.client.Fail(poster.RejectedDestination, r, "the server does not know the room", "check room")
	}
	if err := x.client.Classify(r); err != nil {
		return poster.Receipt{}, err
	}
	if known && said.EventID != "" || r.Torn && bytes.HasPrefix(r.Body, []byte("{")) {
		return x.receipt(said.EventID), nil
	}
	return poster.Receipt{}, x.client.NoReceipt(r)
}

func (x *matrix) receipt(event string) poster.Receipt {
	if event == "" {
		return poster.Receipt{}
	}
	return x.client.Receipt(event, "https://matrix.to/#/"+url.PathEscape(x.set.Room)+"/"+url.PathEscape(event))
}

// Check asks whose token it is, and refuses a room that is encrypted, since the
// program cannot write there.
func (x *matrix) Check(ctx context.Context) error {
	var who struct {
		UserID string `json:"user_id"`
	}
	header := poster.JSONHeader(x.set.Token)
	if err := x.client.Get(ctx, poster.NewSecret(x.set.Server+"/_matrix/client/v3/account/whoami"), header, &who); err != nil {
		return err
	}
	r, err := x.client.Do(ctx, poster.Request{Method: http.MethodGet, URL: x.path("/state/m.room.encryption"), Header: header})
	switch {
	case err != nil:
		return err
	case r.Status == http.StatusOK:
		return x.client.Fail(poster.RejectedDestination, r, "the room is encrypted", "choose one that is not")
	case r.Status == http.StatusNotFound:
		return nil
	}
	return x.client.Classify(r)
}

// Verify looks for the message's key among the room's newest events.
func (x *matrix) Verify(ctx context.Context, m poster.Message, since time.Time) (poster.Presence, poster.Receipt, error) {
	var said struct {
		Chunk []struct {
			ID      string         `json:"event_id"`
			Time    int64          `json:"origin_server_ts"`
			Content map[string]any `json:"content"`
		} `json:"chunk"`
		End string `json:"end"`
	}
	if err := x.client.Get(ctx, x.path(fmt.Sprintf("/messages?dir=b&limit=%d", page)), poster.JSONHeader(x.set.Token), &said); err != nil {
		return poster.CannotTell, poster.Receipt{}, err
	}
	var oldest time.Time
	for _, e := range said.Chunk {
		if key, ok := e.Content["bot.key"].(string); ok && key == m.ID {
			return poster.Found, x.receipt(e.ID), nil
		}
		oldest = time.UnixMilli(e.Time)
	}
	return poster.Covers(since, oldest, said.Chunk != nil && said.End == ""), poster.Receipt{}, nil
}
