package collect

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/json"
)

func parseJSON(body []byte, limits Limits) (*feed, error) {
	f, err := parseCutJSON(body, limits)
	if errors.As(err, new(*stdjson.SyntaxError)) {
		if f, again := parseWholeJSON(mendedJSON(body), limits); again == nil {
			return f, nil
		}
	}
	return f, err
}

func parseCutJSON(body []byte, limits Limits) (*feed, error) {
	rest, taken := cutJSON(body)
	if taken != nil {
		if f, err := parseWholeJSON(rest, limits); err == nil {
			f.texts = taken
			return f, nil
		}
	}
	return parseWholeJSON(body, limits)
}

func parseWholeJSON(body []byte, limits Limits) (*feed, error) {
	if err := scanJSON(body, limits.Depth); err != nil {
		return nil, err
	}
	parsed, err := new(json.Parser).Parse(bytes.NewReader(body))
	var broken *stdjson.SyntaxError
	if err != nil && !errors.As(err, &broken) || err == nil && slices.Contains(parsed.Items, nil) {
		if again := ofUsualTypes(body); again != nil {
			parsed, err = new(json.Parser).Parse(bytes.NewReader(again))
		}
	}
	switch {
	case errors.As(err, &broken):
		return nil, fmt.Errorf("byte %d of its JSON: %w", broken.Offset, err)
	case err != nil || !isJSONFeed(parsed):
		return nil, &notFeedError{what: "JSON of another kind"}
	}
	if err := checkCount(len(parsed.Items), limits); err != nil {
		return nil, err
	}
	translated, err := new(gofeed.DefaultJSONTranslator).Translate(parsed)
	return &feed{Feed: translated}, err
}

// isJSONFeed reports whether an object is a JSON Feed: it says so, or says nothing, and
// where it and its items are.
func isJSONFeed(parsed *json.Feed) bool {
	if parsed.Version != "" {
		return strings.Contains(parsed.Version, "jsonfeed.org/version/")
	}
	return (isWeb(parsed.FeedURL) || isWeb(parsed.HomePageURL)) && len(parsed.Items) > 0 && !slices.ContainsFunc(parsed.Items, func(item *json.Item) bool {
		return item.ID == "" || item.URL == "" && item.ExternalURL == ""
	})
}
