package matrix

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"bot/poster"
)

// maxImage is how large a picture may be, in bytes. Servers take 10 MiB and more.
const maxImage = 8_000_000

// Prepare brings the article's picture to the server, where it is nothing until an
// event names it, and makes the event a picture with the text below it
// (https://spec.matrix.org/latest/client-server-api/#media-captions). Whatever goes
// wrong with it, the event goes without.
func (x *matrix) Prepare(ctx context.Context, a poster.Article, m poster.Message) poster.Message {
	if !x.set.Image {
		return m
	}
	return poster.WithPicture(ctx, x.o, a, maxImage, m, func(ctx context.Context, p poster.Picture, c *content) (ok bool) {
		c.Type, c.File = "m.image", p.Name()
		c.Info = &info{p.Kind, len(p.Data), p.Width, p.Height}
		c.URL, ok = x.upload(ctx, p)
		return ok
	})
}

// upload returns the picture's address within Matrix.
func (x *matrix) upload(ctx context.Context, p poster.Picture) (string, bool) {
	header := poster.JSONHeader(x.set.Token)
	header.Set("Content-Type", p.Kind)
	at := x.set.Server + "/_matrix/media/v3/upload?filename=" + url.QueryEscape(p.Name())
	r, err := x.client.Do(ctx, poster.Request{URL: poster.NewSecret(at), Header: header, Body: p.Data})
	var said struct {
		URI string `json:"content_uri"`
	}
	if err != nil || r.Status != http.StatusOK || json.Unmarshal(r.Body, &said) != nil || !strings.HasPrefix(said.URI, "mxc://") {
		return "", false
	}
	return said.URI, true
}
