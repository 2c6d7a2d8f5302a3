package bluesky

import (
	"context"
	"encoding/json"
	"net/http"

	"bot/poster"
)

// maxThumb is how large a card's picture may be, in bytes
// (lexicons/app/bsky/embed/external.json).
const maxThumb = 1_000_000

// Prepare brings the article's picture to the server and puts it on the card.
// Whatever goes wrong with it, the card goes without.
func (a *account) Prepare(ctx context.Context, article poster.Article, m poster.Message) poster.Message {
	if !a.set.Image {
		return m
	}
	return poster.WithPicture(ctx, a.o, article, maxThumb, m, func(ctx context.Context, p poster.Picture, put *put) (ok bool) {
		if put.Record.Embed == nil {
			return false
		}
		put.Record.Embed.External.Thumb, ok = a.upload(ctx, p)
		return ok
	})
}

// upload brings a picture to the server, where it is nothing until a record names
// it, and returns how to name it.
func (a *account) upload(ctx context.Context, p poster.Picture) (json.RawMessage, bool) {
	_, r, err := a.withSession(ctx, func(s session) (poster.Response, error) {
		header := poster.JSONHeader(s.Access)
		header.Set("Content-Type", p.Kind)
		return a.client().Do(ctx, poster.Request{URL: a.method("com.atproto.repo.uploadBlob", nil), Header: header, Body: p.Data})
	})
	var said struct {
		Blob json.RawMessage `json:"blob"`
	}
	if err != nil || r.Status != http.StatusOK || json.Unmarshal(r.Body, &said) != nil || len(said.Blob) == 0 {
		return nil, false
	}
	return said.Blob, true
}
