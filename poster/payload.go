package poster

// Payload is an announcement in JSON, for whatever has no form of its own: any
// webhook, and programs.
type Payload struct {
	ID          string   `json:"id"`
	Text        string   `json:"text"`
	URL         string   `json:"url"`
	Title       string   `json:"title"`
	Summary     string   `json:"summary"`
	Source      string   `json:"source"`
	Destination string   `json:"destination"`
	Categories  []string `json:"categories"`
	Author      string   `json:"author"`
	Image       string   `json:"image"`
}

// NewPayload returns a post as a payload, with the article's texts as CleanArticle
// leaves them.
func NewPayload(p Post) Payload {
	a := CleanArticle(p.Article)
	return Payload{
		ID: p.ID, Text: p.Text, URL: a.URL, Title: a.Title, Summary: a.Summary, Source: a.Source,
		Destination: p.Destination, Categories: a.Categories, Author: a.Author, Image: a.Image,
	}
}
