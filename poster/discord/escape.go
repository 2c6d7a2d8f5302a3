package discord

import (
	"strings"
)

// escape makes a line show as it is: a backslash before what Markdown, mentions
// and links in words begin with, and before what would make the beginning of a
// line a heading, a list or a quotation.
func escape(text string) string {
	var b strings.Builder
	for i, r := range text {
		if strings.ContainsRune("\\*_~`|<[]", r) || i == 0 && strings.ContainsRune("#>-", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
