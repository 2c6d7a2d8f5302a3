package x

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // OAuth 1.0a asks for it (RFC 5849 §3.4.2).
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// nonce is a text that no other request has.
func nonce() string { return rand.Text() }

// sign returns the Authorization header of a request (RFC 5849 §3.4). A body of
// JSON is not signed.
func (s settings) sign(method, address string, query url.Values, now time.Time, nonce string) string {
	own := [][2]string{
		{"oauth_consumer_key", strings.TrimSpace(s.ConsumerKey.Reveal())},
		{"oauth_nonce", nonce},
		{"oauth_signature_method", "HMAC-SHA1"},
		{"oauth_timestamp", fmt.Sprint(now.Unix())},
		{"oauth_token", strings.TrimSpace(s.AccessToken.Reveal())},
		{"oauth_version", "1.0"},
	}
	var pairs []string
	for _, p := range own {
		pairs = append(pairs, escape(p[0])+"="+escape(p[1]))
	}
	for name, values := range query {
		for _, v := range values {
			pairs = append(pairs, escape(name)+"="+escape(v))
		}
	}
	slices.Sort(pairs)
	base := method + "&" + escape(address) + "&" + escape(strings.Join(pairs, "&"))
	key := escape(strings.TrimSpace(s.ConsumerSecret.Reveal())) + "&" + escape(strings.TrimSpace(s.AccessSecret.Reveal()))
	mac := hmac.New(sha1.New, []byte(key))
	mac.Write([]byte(base))
	own = append(own, [2]string{"oauth_signature", base64.StdEncoding.EncodeToString(mac.Sum(nil))})
	var header []string
	for _, p := range own {
		header = append(header, fmt.Sprintf("%s=%q", escape(p[0]), escape(p[1])))
	}
	return "OAuth " + strings.Join(header, ", ")
}

// escape writes all but the unreserved characters as percent escapes (RFC 5849
// §3.6).
func escape(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "+", "%20")
}
