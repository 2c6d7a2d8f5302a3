// Package ntfy announces on a topic of an ntfy server
// (https://docs.ntfy.sh/publish/#publish-as-json).
package ntfy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"time"

	"bot/poster"
)

const (
	// maxMessage is where ntfy cuts a message off, in bytes.
	maxMessage = 4096
	// kept is for how long a server keeps messages by default (12 h), less an hour.
	kept = 11 * time.Hour
	// tooManyToday is ntfy's code for a used-up daily quota (server/errors.go).
	tooManyToday = 42908
	// wrongAttachment and noAttachments are its codes for a picture it does not take.
	wrongAttachment, noAttachments = 40013, 40014
)

// Driver makes posters for ntfy.
func Driver() poster.Driver { return poster.Driver{Name: "ntfy", New: open} }

type settings struct {
	Server   string        `yaml:"server"`
	Topic    poster.Secret `yaml:"topic"`
	Token    poster.Secret `yaml:"token"`
	Tags     []string      `yaml:"tags"`
	Priority string        `yaml:"priority"`
	Image    bool          `yaml:"image"`
}

// ntfy is one topic.
type ntfy struct {
	client   *poster.Client
	server   string
	topic    poster.Secret
	token    poster.Secret
	tags     []string
	priority int
	image    bool
}

var topicName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-_A-Za-z0-9]{1,64}$`) })

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	set := settings{Server: "https://ntfy.sh"}
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	n := &ntfy{server: poster.BaseAddress(set.Server), topic: set.Topic, token: set.Token, tags: set.Tags, image: set.Image}
	errs := []error{poster.CheckAddress(s, "server", poster.NewSecret(set.Server))}
	if !topicName().MatchString(n.topic.Reveal()) {
		errs = append(errs, s.Errorf("topic", "topic is required: up to 64 letters, digits, - and _"))
	}
	levels := map[string]int{"": 0, "min": 1, "low": 2, "default": 3, "high": 4, "max": 5}
	var ok bool
	if n.priority, ok = levels[set.Priority]; !ok {
		errs = append(errs, s.Errorf("priority", "priority is min, low, default, high or max, not %q", set.Priority))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	n.client = poster.NewClient(o, set.Topic, set.Token)
	return n, nil
}

func (n *ntfy) Traits() poster.Traits {
	return poster.Traits{
		Identity: poster.NewSecret(n.server + "/" + n.topic.Reveal()),
		Resend:   true,
		Limit:    poster.Limit{Max: maxMessage, Unit: poster.Bytes},
	}
}

// payload is a message, but for the topic: on public servers its name is all that
// keeps others out, so it is put in when the message goes out.
type payload struct {
	Message  string   `json:"message"`
	Click    string   `json:"click"`
	Tags     []string `json:"tags,omitempty"`
	Priority int      `json:"priority,omitempty"`
	Attach   string   `json:"attach,omitempty"`
}

func (n *ntfy) Render(p poster.Post) (poster.Message, error) {
	m := payload{p.Text, p.Article.URL, n.tags, n.priority, ""}
	if n.image {
		m.Attach = poster.WebAddress(p.Article.Image)
	}
	body, err := poster.JSON(m)
	return poster.Message{ID: p.ID, Text: p.Text, Body: body}, err
}

func (n *ntfy) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	header := poster.JSONHeader(n.token)
	// Servers since 2.16 replace a message by a second one of the same sequence;
	// older ones show both.
	header.Set("X-Sequence-ID", m.ID)
	r, said, err := n.send(ctx, header, m.Body)
	if err != nil {
		return poster.Receipt{}, err
	}
	if bare, had := poster.Without(m.Body, "attach"); had && (said.Code == wrongAttachment || said.Code == noAttachments) {
		// It does not take the picture, and nothing was published.
		if r, said, err = n.send(ctx, header, bare); err != nil {
			return poster.Receipt{}, err
		}
	}
	switch {
	case r.Status >= 200 && r.Status < 300:
		if said.ID != "" || r.Torn && bytes.HasPrefix(r.Body, []byte("{")) {
			return n.client.Receipt(said.ID, ""), nil
		}
		return poster.Receipt{}, n.client.NoReceipt(r)
	case said.Code == tooManyToday:
		err := n.client.Fail(poster.Later, r, "the day's messages are used up", "")
		if e, ok := errors.AsType[*poster.Error](err); ok {
			// Quotas begin anew at midnight, UTC.
			e.NotBefore = n.client.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		}
		return poster.Receipt{}, err
	}
	return poster.Receipt{}, n.client.Classify(r)
}

// answer is what the server says: of a message, or of what is wrong.
type answer struct {
	ID   string `json:"id"`
	Code int    `json:"code"`
}

// send publishes a message on the topic, whose name is put in here.
func (n *ntfy) send(ctx context.Context, header http.Header, message []byte) (poster.Response, answer, error) {
	body := append([]byte(`{"topic":"`+n.topic.Reveal()+`",`), bytes.TrimPrefix(message, []byte("{"))...)
	r, err := n.client.Do(ctx, poster.Request{URL: poster.NewSecret(n.server + "/"), Header: header, Body: body})
	var said answer
	if err == nil && json.Unmarshal(r.Body, &said) != nil {
		said = answer{}
	}
	return r, said, err
}

// poll asks for the topic's messages since a time, which publishes nothing.
func (n *ntfy) poll(ctx context.Context, since string) (poster.Response, error) {
	q := url.Values{"poll": {"1"}, "since": {since}}
	r, err := n.client.Do(ctx, poster.Request{
		Method: http.MethodGet, URL: poster.NewSecret(n.server + "/" + n.topic.Reveal() + "/json?" + q.Encode()), Header: poster.JSONHeader(n.token),
	})
	if err != nil {
		return r, err
	}
	return r, n.client.Classify(r)
}

// Check reads the topic's newest message. A token that may only write is refused.
func (n *ntfy) Check(ctx context.Context) error {
	_, err := n.poll(ctx, "latest")
	return err
}

// Verify looks among the messages that the server keeps for one with the same text
// and link.
func (n *ntfy) Verify(ctx context.Context, m poster.Message, since time.Time) (poster.Presence, poster.Receipt, error) {
	var ours payload
	if err := json.Unmarshal(m.Body, &ours); err != nil || n.client.Now().Sub(since) > kept {
		return poster.CannotTell, poster.Receipt{}, err
	}
	r, err := n.poll(ctx, strconv.FormatInt(since.Add(-time.Minute).Unix(), 10))
	if err != nil || r.Torn {
		return poster.CannotTell, poster.Receipt{}, err
	}
	lines := bufio.NewScanner(bytes.NewReader(r.Body))
	lines.Buffer(nil, len(r.Body)+1)
	for lines.Scan() {
		var said struct{ ID, Event, Message, Click string }
		if json.Unmarshal(lines.Bytes(), &said) != nil {
			return poster.CannotTell, poster.Receipt{}, n.client.NoReceipt(r)
		}
		if said.Event == "message" && said.Message == ours.Message && said.Click == ours.Click {
			return poster.Found, n.client.Receipt(said.ID, ""), nil
		}
	}
	return poster.Absent, poster.Receipt{}, lines.Err()
}
