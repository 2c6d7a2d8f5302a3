package x

import (
	"context"
	"encoding/json"
	"net/http"

	"bot/poster"
)

// maxImage is how large a picture may be, in bytes
// (https://docs.x.com/x-api/media/quickstart/best-practices).
const maxImage = 5_000_000

// Prepare brings the article's picture to X, where it is nothing until a post names
// it. Whatever goes wrong with it, the post goes without.
func (a *account) Prepare(ctx context.Context, article poster.Article, m poster.Message) poster.Message {
	if !a.set.Image {
		return m
	}
	return poster.WithPicture(ctx, a.o, article, maxImage, m, func(ctx context.Context, picture poster.Picture, p *post) bool {
		id, ok := a.upload(ctx, picture)
		p.Media = &media{[]string{id}}
		return ok
	})
}

// upload returns the picture's ID. A form is not signed.
func (a *account) upload(ctx context.Context, p poster.Picture) (string, bool) {
	kind, body, err := p.Form("media", map[string]string{"media_category": "tweet_image"})
	if err != nil {
		return "", false
	}
	r, err := a.do(ctx, call{http.MethodPost, "/2/media/upload", nil, kind, body})
	var said struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err != nil || r.Status < 200 || r.Status > 299 || json.Unmarshal(r.Body, &said) != nil || said.Data.ID == "" {
		return "", false
	}
	return said.Data.ID, true
}
