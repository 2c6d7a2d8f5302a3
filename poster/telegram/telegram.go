// Package telegram announces in a Telegram channel or group through a bot
// (https://core.telegram.org/bots/api#sendmessage).
package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"bot/poster"
)

// maxText is how long a message may be. Whether UTF-16 units or code points are
// counted differs by account of it; the units are never fewer.
const maxText = 4096

// maxCaption is how long the text below a picture may be.
const maxCaption = 1024

// Driver makes posters for Telegram.
func Driver() poster.Driver { return poster.Driver{Name: "telegram", New: open} }

type settings struct {
	Token  poster.Secret `yaml:"token"`
	Chat   string        `yaml:"chat"`
	Server string        `yaml:"server"`
	Silent bool          `yaml:"silent"`
	Image  bool          `yaml:"image"`
}

// telegram is one chat.
type telegram struct {
	client *poster.Client
	set    settings
}

var (
	botToken = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+:[-_A-Za-z0-9]+$`) })
	chatName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(@[A-Za-z0-9_]+|-?[0-9]+)$`) })
)

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	set := settings{Server: "https://api.telegram.org"}
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	errs := []error{poster.CheckAddress(s, "server", poster.NewSecret(set.Server))}
	if !botToken().MatchString(set.Token.Reveal()) {
		errs = append(errs, s.Errorf("token", "token is required: the bot's, as @BotFather gave it (123456:ABC…)"))
	}
	if !chatName().MatchString(set.Chat) {
		errs = append(errs, s.Errorf("chat", "chat is required: @name of a channel, or a number in quotes"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	set.Server = poster.BaseAddress(set.Server)
	// The bot's number may be seen; the rest may not, even alone.
	_, secret, _ := strings.Cut(set.Token.Reveal(), ":")
	return &telegram{poster.NewClient(o, set.Token, poster.NewSecret(secret)), set}, nil
}

func (t *telegram) Traits() poster.Traits {
	bot, _, _ := strings.Cut(t.set.Token.Reveal(), ":")
	return poster.Traits{
		// The bot's number is no secret, and stays when its token is made anew.
		Identity: poster.NewSecret("telegram:" + bot + ":" + t.set.Chat),
		Limit:    poster.Limit{Max: maxText, Unit: poster.UTF16},
		Escape:   poster.NoMentions,
	}
}

// payload is a message. There is no parse_mode, so no text is markup.
type payload struct {
	ChatID  string  `json:"chat_id"`
	Text    string  `json:"text"`
	Preview preview `json:"link_preview_options"`
	Silent  bool    `json:"disable_notification,omitempty"`
	// Photo is the picture's address. With it the message goes out in another form.
	Photo string `json:"photo,omitempty"`
}

// photo is a picture with the text below it, which has no preview.
type photo struct {
	ChatID  string `json:"chat_id"`
	Photo   string `json:"photo"`
	Caption string `json:"caption"`
	Silent  bool   `json:"disable_notification,omitempty"`
}

type preview struct {
	URL string `json:"url,omitempty"`
}

func (t *telegram) Render(p poster.Post) (poster.Message, error) {
	m := payload{ChatID: t.set.Chat, Text: p.Text, Preview: preview{p.Article.URL}, Silent: t.set.Silent}
	if t.set.Image && (poster.Limit{Unit: poster.UTF16}).Count(p.Text) <= maxCaption {
		m.Photo = poster.WebAddress(p.Article.Image)
	}
	body, err := poster.JSON(m)
	return poster.Message{ID: p.ID, Text: p.Text, Body: body}, err
}

func (t *telegram) method(name string) poster.Secret {
	return poster.NewSecret(t.set.Server + "/bot" + t.set.Token.Reveal() + "/" + name)
}

// Post sends the message, with its picture if it has one. One whose picture Telegram
// cannot fetch goes out without it: then nothing was published.
func (t *telegram) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	var with payload
	bare, had := poster.Without(m.Body, "photo")
	if had && json.Unmarshal(m.Body, &with) == nil {
		body, err := poster.JSON(photo{with.ChatID, with.Photo, with.Text, with.Silent})
		if err != nil {
			return poster.Receipt{}, err
		}
		r, err := t.send(ctx, "sendPhoto", body)
		if err != nil {
			return poster.Receipt{}, err
		}
		if !wrongPhoto(r) {
			return t.outcome(r)
		}
	}
	r, err := t.send(ctx, "sendMessage", bare)
	if err != nil {
		return poster.Receipt{}, err
	}
	return t.outcome(r)
}

func (t *telegram) send(ctx context.Context, method string, body []byte) (poster.Response, error) {
	return t.client.Do(ctx, poster.Request{URL: t.method(method), Header: poster.JSONHeader(poster.Secret{}), Body: body})
}

// wrongPhoto reports whether Telegram refused a message for its picture alone.
func wrongPhoto(r poster.Response) bool {
	var a answer
	if r.Status != http.StatusBadRequest || json.Unmarshal(r.Body, &a) != nil {
		return false
	}
	said := strings.ToLower(a.Description)
	for _, of := range []string{"photo", "image", "http url", "file identifier", "web page", "webpage", "wrong type", "file is too big"} {
		if strings.Contains(said, of) {
			return true
		}
	}
	return false
}

// answer is what the Bot API answers, whatever happened.
type answer struct {
	OK     bool `json:"ok"`
	Result struct {
		MessageID int64 `json:"message_id"`
		Chat      struct {
			Username string `json:"username"`
		} `json:"chat"`
	} `json:"result"`
	Description string `json:"description"`
	Parameters  struct {
		MigrateTo  int64 `json:"migrate_to_chat_id"`
		RetryAfter int64 `json:"retry_after"`
	} `json:"parameters"`
}

// outcome tells how a request ended, by the API's description, else by the status.
func (t *telegram) outcome(r poster.Response) (poster.Receipt, error) {
	var a answer
	known := json.Unmarshal(r.Body, &a) == nil
	said := strings.ToLower(a.Description)
	switch {
	case r.Status >= 200 && r.Status < 300:
		if known && a.OK || r.Torn && bytes.HasPrefix(r.Body, []byte("{")) {
			return t.receipt(a), nil
		}
		return poster.Receipt{}, t.client.NoReceipt(r)
	case r.Status == http.StatusTooManyRequests && a.Parameters.RetryAfter > 0 && r.Header.Get("Retry-After") == "":
		r.Header.Set("Retry-After", fmt.Sprint(a.Parameters.RetryAfter))
	case r.Status == http.StatusBadRequest && a.Parameters.MigrateTo != 0:
		return poster.Receipt{}, t.client.Fail(poster.RejectedDestination, r, "the group has become a supergroup",
			fmt.Sprintf("set chat: \"%d\"", a.Parameters.MigrateTo))
	case r.Status == http.StatusBadRequest && closedChat(said):
		return poster.Receipt{}, t.client.Fail(poster.RejectedDestination, r, "the bot may not post in the chat",
			"make it an administrator there, and check chat")
	case r.Status == http.StatusUnauthorized || r.Status == http.StatusNotFound:
		return poster.Receipt{}, t.client.Fail(poster.RejectedDestination, r, "Telegram does not know this bot", "check token")
	}
	return poster.Receipt{}, t.client.Classify(r)
}

// closedChat reports whether a 400's description is of the chat and not of the
// message.
func closedChat(said string) bool {
	for _, of := range []string{"chat not found", "rights", "chat_write_forbidden", "was kicked", "deactivated", "topic_closed", "thread not found"} {
		if strings.Contains(said, of) {
			return true
		}
	}
	return false
}

func (t *telegram) receipt(a answer) poster.Receipt {
	if a.Result.MessageID == 0 {
		return poster.Receipt{}
	}
	id, address := fmt.Sprint(a.Result.MessageID), ""
	if name := a.Result.Chat.Username; name != "" {
		address = "https://t.me/" + name + "/" + id
	}
	return t.client.Receipt(id, address)
}

// Check asks who the bot is, and for the chat, which it can see only from within.
func (t *telegram) Check(ctx context.Context) error {
	for _, method := range []string{"getMe", "getChat?chat_id=" + url.QueryEscape(t.set.Chat)} {
		r, err := t.client.Do(ctx, poster.Request{Method: http.MethodGet, URL: t.method(method)})
		if err != nil {
			return err
		}
		if _, err := t.outcome(r); err != nil {
			return err
		}
	}
	return nil
}
