package poster

import (
	"strings"
	"unicode"
)

// hashtags writes labels as tags that every platform links: without the signs that
// end a tag, its words joined, none of digits alone, none twice.
func hashtags(labels []string) addressText {
	var tags []string
	seen := make(map[string]bool)
	for _, label := range labels {
		tag := Hashtag(label)
		if key := strings.ToLower(tag); tag != "" && !seen[key] {
			seen[key] = true
			tags = append(tags, tag)
		}
	}
	return addressText(strings.Join(tags, " "))
}

// Hashtag returns a label as a tag, or nothing where none can be made of it. Several
// words become one, each of them capitalised; wide Latin letters become usual ones.
func Hashtag(label string) string {
	var b strings.Builder
	words := strings.FieldsFunc(strings.Map(narrow, label), unicode.IsSpace)
	letters := false
	for _, word := range words {
		first := true
		for _, r := range word {
			if !tagged(r) {
				continue
			}
			if first && len(words) > 1 {
				r = unicode.ToUpper(r)
			}
			first = false
			letters = letters || !unicode.IsDigit(r) && r != '_'
			b.WriteRune(r)
		}
	}
	if !letters {
		return ""
	}
	return "#" + b.String()
}

// narrow writes the wide forms of ASCII as ASCII.
func narrow(r rune) rune {
	if r >= '！' && r <= '～' {
		return r - '！' + '!'
	}
	return r
}

// tagged reports whether r is part of a tag on every platform.
func tagged(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}
