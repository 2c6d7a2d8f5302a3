package poster

import (
	"encoding/json"
	"net/url"
)

// WebAddress returns an article's address or that of its picture as it may be given to
// a platform, or "" if it is none that others could fetch.
func WebAddress(address string) string {
	address = cleanAddress(address)
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || len(address) > maxRemoteURL {
		return ""
	}
	return address
}

// Without returns a JSON object without the members of these names, and whether it had
// one of them: for an announcement that a platform does not take because of what is
// only an ornament of it.
func Without(object []byte, names ...string) ([]byte, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return object, false
	}
	had := false
	for _, name := range names {
		if _, ok := members[name]; ok {
			delete(members, name)
			had = true
		}
	}
	if !had {
		return object, false
	}
	rest, err := JSON(members)
	return rest, err == nil
}

// FitLine makes a clean line of a text from outside that is escaped and within the
// limit, cut at a word if it has to be. Empty for a text with nothing to see in it.
func FitLine(text string, l Limit, escape func(string) string) string {
	if text = CleanLine(text); text == "" {
		return ""
	}
	text, err := fitter{l, escape}.fit([]piece{{value, text}})
	if err != nil {
		return ""
	}
	return text
}
