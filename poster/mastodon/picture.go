package mastodon

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"bot/poster"
)

const (
	// maxImage is how large a picture may be, in bytes: GoToSocial takes 10 MiB,
	// Mastodon 16.
	maxImage = 8_000_000
	// maxDescription is how long its description may be.
	maxDescription = 1500
	// pollEvery is how often the server is asked whether it has read a picture.
	pollEvery = 500 * time.Millisecond
)

// Prepare brings the article's picture to the server, where it is nothing until a
// status names it. Whatever goes wrong with it, the status goes without.
func (d *mastodon) Prepare(ctx context.Context, a poster.Article, m poster.Message) poster.Message {
	if !d.set.Image {
		return m
	}
	description := poster.FitLine(a.Title, poster.Limit{Max: maxDescription, Unit: poster.Graphemes}, nil)
	return poster.WithPicture(ctx, d.o, a, maxImage, m, func(ctx context.Context, p poster.Picture, s *status) bool {
		id, ok := d.upload(ctx, p, description)
		s.Media = []string{id}
		return ok
	})
}

// upload brings a picture to the server and waits until it is read
// (https://docs.joinmastodon.org/methods/media/#v2). It returns the picture's ID.
func (d *mastodon) upload(ctx context.Context, p poster.Picture, description string) (string, bool) {
	fields := map[string]string{}
	if description != "" {
		fields["description"] = description
	}
	kind, body, err := p.Form("file", fields)
	if err != nil {
		return "", false
	}
	header := poster.JSONHeader(d.set.Token)
	header.Set("Content-Type", kind)
	r, err := d.client.Do(ctx, poster.Request{URL: d.at("/api/v2/media"), Header: header, Body: body})
	var said struct {
		ID string `json:"id"`
	}
	if err != nil || r.Status != http.StatusOK && r.Status != http.StatusAccepted || json.Unmarshal(r.Body, &said) != nil || pathPart(said.ID) == "" {
		return "", false
	}
	for status := r.Status; status != http.StatusOK; {
		select {
		case <-ctx.Done():
			return "", false
		case <-time.After(pollEvery):
		}
		r, err := d.client.Do(ctx, poster.Request{
			Method: http.MethodGet, URL: d.at("/api/v1/media/" + pathPart(said.ID)), Header: poster.JSONHeader(d.set.Token),
		})
		if err != nil || r.Status != http.StatusOK && r.Status != http.StatusPartialContent {
			return "", false
		}
		status = r.Status
	}
	return said.ID, true
}
