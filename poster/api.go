package poster

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// JSONHeader returns the header of a request with a body of JSON, and with the
// bearer token (RFC 6750) if there is one.
func JSONHeader(token Secret) http.Header {
	h := http.Header{"Content-Type": {"application/json"}}
	if !token.IsZero() {
		h.Set("Authorization", "Bearer "+strings.TrimSpace(token.Reveal()))
	}
	return h
}

// Get asks for what is at the address and decodes its JSON into the value that
// into points to. An answer that is no 2xx, or not of that shape, is an *Error.
func (c *Client) Get(ctx context.Context, address Secret, header http.Header, into any) error {
	r, err := c.Do(ctx, Request{Method: http.MethodGet, URL: address, Header: header})
	if err != nil {
		return err
	}
	if err := c.Classify(r); err != nil {
		return err
	}
	if json.Unmarshal(r.Body, into) != nil {
		return c.NoReceipt(r)
	}
	return nil
}

// LastAddress returns the last http(s) address in a text, or "". In a text that was
// fitted to a platform it is the article's as a rule.
func LastAddress(text string) string {
	all := address().FindAllString(text, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// BaseAddress returns a server's address without a slash at its end.
func BaseAddress(server string) string { return strings.TrimRight(strings.TrimSpace(server), "/") }
