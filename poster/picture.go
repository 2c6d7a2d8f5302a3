package poster

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
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"time"
)

const (
	// maxPicture bounds what is fetched, in bytes, and maxPixels what is decoded.
	maxPicture = 10 << 20
	maxPixels  = 40_000_000
	// pictureLimit bounds the time for a picture; then an announcement goes without.
	pictureLimit = 20 * time.Second
)

// Picture is a picture of an article.
type Picture struct {
	// Data is the file.
	Data []byte
	// Kind is its media type.
	Kind string
	// Width and Height are in pixels. Zero: not known.
	Width, Height int
}

// Name is a name for the file.
func (p Picture) Name() string {
	return "picture." + strings.TrimPrefix(p.Kind, "image/")
}

// WithPicture puts the article's picture into a message whose body is a T in JSON. put
// brings the picture, of at most most bytes, to the platform, where it is nothing until
// a message names it, and names it in the body. Whatever goes wrong, the message goes
// as it was.
func WithPicture[T any](ctx context.Context, o Options, a Article, most int, m Message, put func(context.Context, Picture, *T) bool) Message {
	ctx, cancel := context.WithTimeout(ctx, pictureLimit)
	defer cancel()
	var body T
	picture, ok := FetchPicture(ctx, o, a, most)
	if !ok || json.Unmarshal(m.Body, &body) != nil || !put(ctx, picture, &body) {
		return m
	}
	if text, err := JSON(body); err == nil {
		m.Body = text
	}
	return m
}

// FetchPicture fetches an article's picture and makes it as small as most bytes, as a
// JPEG, if it is larger. Whatever goes wrong, there is none.
func FetchPicture(ctx context.Context, o Options, a Article, most int) (Picture, bool) {
	address := WebAddress(a.Image)
	if address == "" {
		return Picture{}, false
	}
	// Its address was written by other people.
	o.HTTP = Outside(o.HTTP)
	r, err := NewClient(o).Do(Trust(ctx, o.Hosts[a.Source]...), Request{Method: http.MethodGet, URL: NewSecret(address), MaxAnswer: maxPicture})
	if err != nil || r.Status != http.StatusOK || r.Torn || len(r.Body) >= maxPicture {
		return Picture{}, false
	}
	about, format, err := image.DecodeConfig(bytes.NewReader(r.Body))
	switch kind := http.DetectContentType(r.Body); {
	case err != nil && kind == "image/webp" && len(r.Body) <= most:
		// Go cannot read it, but platforms can.
		return Picture{Data: r.Body, Kind: kind}, true
	case err != nil || about.Width < 1 || about.Height < 1 || about.Width > maxPixels/about.Height:
		return Picture{}, false
	case len(r.Body) <= most:
		return Picture{r.Body, "image/" + format, about.Width, about.Height}, true
	}
	full, _, err := image.Decode(bytes.NewReader(r.Body))
	if err != nil {
		return Picture{}, false
	}
	return smaller(full, most)
}

// smaller makes a picture small enough, of the largest of a few sizes that is.
func smaller(full image.Image, most int) (Picture, bool) {
	for _, width := range []int{1600, 1000, 600, 300} {
		var out bytes.Buffer
		small := shrink(full, width)
		if err := jpeg.Encode(&out, small, &jpeg.Options{Quality: 80}); err != nil {
			return Picture{}, false
		}
		if out.Len() <= most {
			return Picture{out.Bytes(), "image/jpeg", small.Bounds().Dx(), small.Bounds().Dy()}, true
		}
	}
	return Picture{}, false
}

// shrink makes a picture at most width wide and high, on white, each of its points
// the mean of those it stands for.
func shrink(full image.Image, width int) image.Image {
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

// Form returns a form (RFC 7578) with the picture as a file of this name and with
// further fields, and its media type.
func (p Picture) Form(name string, fields map[string]string) (kind string, body []byte, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	var keys []string
	for key := range fields {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if err := w.WriteField(key, fields[key]); err != nil {
			return "", nil, err
		}
	}
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="` + name + `"; filename="` + p.Name() + `"`},
		"Content-Type":        {p.Kind},
	})
	if err != nil {
		return "", nil, err
	}
	if _, err := part.Write(p.Data); err != nil {
		return "", nil, err
	}
	err = w.Close()
	return w.FormDataContentType(), b.Bytes(), err
}
