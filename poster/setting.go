package poster

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
)

// CheckAddress returns an error about the named setting unless it is an absolute
// http(s) address. The error does not show it.
func CheckAddress(s Settings, key string, address Secret) error {
	text := strings.TrimSpace(address.Reveal())
	if text == "" {
		return s.Errorf(key, "%s is required: the address to post to", key)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return s.Errorf(key, "%s is not an absolute http(s) address", key)
	}
	return nil
}

// Hook is a platform that is its webhook.
type Hook struct {
	// Client keeps the webhook secret.
	Client *Client
	// Webhook is the address to post to.
	Webhook Secret
	// Image: an article's picture is shown.
	Image bool
}

// OpenWebhook reads the settings of a platform that has a webhook, and besides only
// whether it shows pictures.
func OpenWebhook(s Settings, o Options) (Hook, error) {
	var set struct {
		Webhook Secret `yaml:"webhook"`
		Image   bool   `yaml:"image"`
	}
	if err := s.Decode(&set); err != nil {
		return Hook{}, err
	}
	if err := CheckAddress(s, "webhook", set.Webhook); err != nil {
		return Hook{}, err
	}
	return Hook{NewClient(o, set.Webhook), set.Webhook, set.Image}, nil
}

// JSON returns v as JSON, with the characters of HTML as they are.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

const (
	maxRemoteID  = 200  // in characters
	maxRemoteURL = 2000 // in bytes
)

// Receipt returns what a platform said of a post, cleaned, without secrets and
// within bounds. An address that is not http(s), or that holds a secret, is left out.
func (c *Client) Receipt(id, address string) Receipt {
	r := Receipt{RemoteID: shorten(c.Redact(id), maxRemoteID)}
	address = cleanAddress(address)
	u, err := url.Parse(address)
	if err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") &&
		len(address) <= maxRemoteURL && c.Redact(address) == address {
		r.RemoteURL = address
	}
	return r
}
