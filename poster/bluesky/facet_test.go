package bluesky

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFacetsCountBytesAndKeepOutOfPunctuation(t *testing.T) {
	t.Parallel()
	type part struct{ start, end int }
	for text, want := range map[string]map[part]string{
		"📍: 橋 173\n🗺: https://example.jp/a?x=1#map\n#運河 #england": {
			{20, 48}: "https://example.jp/a?x=1#map", {49, 56}: "運河", {57, 65}: "england",
		},
		"Hello (https://example.jp/a_(b)), see https://example.com.": {
			{7, 31}: "https://example.jp/a_(b)", {38, 57}: "https://example.com",
		},
		"own https://own.example/a. stays":    {{4, 26}: "https://own.example/a."},
		"#1 #2026 a#b # #":                    {},
		"見る（https://example.jp/a）。#タグ、 #end.": {{9, 29}: "https://example.jp/a", {46, 50}: "end"},
	} {
		got := map[part]string{}
		for _, f := range facets(text, "https://own.example/a.") {
			got[part{f.Index.Start, f.Index.End}] = f.Features[0].URI + f.Features[0].Tag
			require.Equal(t, f.Features[0].URI+f.Features[0].Tag, map[bool]string{true: text[f.Index.Start:f.Index.End], false: text[f.Index.Start+1 : f.Index.End]}[f.Features[0].URI != ""])
		}
		require.Equal(t, want, got, text)
	}
}
