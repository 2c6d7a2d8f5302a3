package bluesky

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/color"
	"image/draw"
	_ "image/gif" // Decoded where an article's picture is one.
	"image/jpeg"
	_ "image/png" // As above.
	"net/http"
	"strings"
	"time"

	"bot/poster"
)

const (
	// maxThumb is how large a card's picture may be, in bytes.
	maxThumb = 1_000_000
	// maxPicture bounds what is fetched, in bytes, and maxPixels what is decoded.
	maxPicture = 10 << 20
	maxPixels  = 40_000_000
	// width is that of a picture which had to be made smaller.
	width = 1000
	// pictureLimit bounds the time for a picture; then the post goes without.
	pictureLimit = 20 * time.Second
)

// Prepare brings the article's picture to the server and puts it on the card.
// Whatever goes wrong with it, the card goes without.
func (a *account) Prepare(ctx context.Context, article poster.Article, m poster.Message) poster.Message {
	if !a.set.Image || !strings.HasPrefix(article.Image, "http") {
		return m
	}
	ctx, cancel := context.WithTimeout(ctx, pictureLimit)
	defer cancel()
	var put put
	if json.Unmarshal(m.Body, &put) != nil || put.Record.Embed == nil {
		return m
	}
	data, kind, ok := a.picture(poster.Trust(ctx, a.o.Hosts[article.Source]...), article.Image)
	if !ok {
		return m
	}
	if put.Record.Embed.External.Thumb, ok = a.upload(ctx, data, kind); !ok {
		return m
	}
	if body, err := poster.JSON(put); err == nil {
		m.Body = body
	}
	return m
}

// picture fetches a picture and makes it small enough. Its address was written by
// other people.
func (a *account) picture(ctx context.Context, address string) (data []byte, kind string, ok bool) {
	r, err := a.outside.Do(ctx, poster.Request{Method: http.MethodGet, URL: poster.NewSecret(address), MaxAnswer: maxPicture})
	if err != nil || r.Status != http.StatusOK || r.Torn || len(r.Body) >= maxPicture {
		return nil, "", false
	}
	about, format, err := image.DecodeConfig(bytes.NewReader(r.Body))
	if err != nil || about.Width*about.Height > maxPixels || about.Width < 1 || about.Height < 1 {
		return nil, "", false
	}
	if len(r.Body) <= maxThumb {
		return r.Body, "image/" + format, true
	}
	full, _, err := image.Decode(bytes.NewReader(r.Body))
	if err != nil {
		return nil, "", false
	}
	var small bytes.Buffer
	if err := jpeg.Encode(&small, shrink(full), &jpeg.Options{Quality: 80}); err != nil || small.Len() > maxThumb {
		return nil, "", false
	}
	return small.Bytes(), "image/jpeg", true
}

// shrink makes a picture at most width wide and high, on white, each of its points
// the mean of those it stands for.
func shrink(full image.Image) image.Image {
	b := full.Bounds()
	step := max(1, (max(b.Dx(), b.Dy())+width-1)/width)
	flat := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(flat, flat.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(flat, flat.Bounds(), full, b.Min, draw.Over)
	small := image.NewRGBA(image.Rect(0, 0, max(1, b.Dx()/step), max(1, b.Dy()/step)))
	for y := range small.Rect.Dy() {
		for x := range small.Rect.Dx() {
			small.SetRGBA(x, y, mean(flat, x*step, y*step, step))
		}
	}
	return small
}

func mean(m *image.RGBA, x, y, step int) color.RGBA {
	var r, g, b, n int
	for j := y; j < min(y+step, m.Rect.Dy()); j++ {
		for i := x; i < min(x+step, m.Rect.Dx()); i++ {
			c := m.RGBAAt(i, j)
			r, g, b, n = r+int(c.R), g+int(c.G), b+int(c.B), n+1
		}
	}
	return color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 0xff} //nolint:gosec // A mean of bytes is one.
}

// upload brings a picture to the server, where it is nothing until a record names
// it, and returns how to name it.
func (a *account) upload(ctx context.Context, data []byte, kind string) (json.RawMessage, bool) {
	_, r, err := a.withSession(ctx, func(s session) (poster.Response, error) {
		header := poster.JSONHeader(s.Access)
		header.Set("Content-Type", kind)
		return a.client().Do(ctx, poster.Request{URL: a.method("com.atproto.repo.uploadBlob", nil), Header: header, Body: data})
	})
	var said struct {
		Blob json.RawMessage `json:"blob"`
	}
	if err != nil || r.Status != http.StatusOK || json.Unmarshal(r.Body, &said) != nil || len(said.Blob) == 0 {
		return nil, false
	}
	return said.Blob, true
}
