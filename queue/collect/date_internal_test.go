package collect

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDatesThatTheParserDoesNotRead(t *testing.T) {
	t.Parallel()
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	for text, want := range map[string]string{
		"2026年9月3日 14時05分":                       "2026-09-03T05:05:00Z",
		"2026年9月3日 午後2時05分":                      "2026-09-03T05:05:00Z",
		"2026年9月3日":                              "2026-09-02T15:00:00Z",
		"Sat, 18 Jul 2026 20:21:00 Europe/Paris": "2026-07-18T18:21:00Z",
		"Sat, 18 Jul 2026 20:21:00 GMT+9":        "2026-07-18T11:21:00Z",
		"Sat, 18 Jul 2026 20:21:00 UTC-03:30":    "2026-07-18T23:51:00Z",
		"18 Jul 2026 8:21 PM EST":                "2026-07-19T01:21:00Z",
		"12:00 AM, July 18, 2026 UTC":            "2026-07-18T00:00:00Z",
		"lun. 3 août 2026 09:00 CEST":            "2026-08-03T07:00:00Z",
		"Montag, 3. März 2026 09:00:00 +0100":    "2026-03-03T08:00:00Z",
		"lunes, 3 de agosto de 2026 09:00:00 Z":  "2026-08-03T09:00:00Z",
		"3 августа 2026 г., 12:00 MSK":           "2026-08-03T09:00:00Z",
		"Tue, 15 Sept 2026 15:53:56 +0300":       "2026-09-15T12:53:56Z",
		"2026/8/3 9:05":                          "2026-08-03T00:05:00Z",
		"11月27日 23:58":                           "",
		"Mon, 27 Nov 23:58":                      "",
		"31 February 2026 10:00":                 "",
		"3 Foo 2026 10:00":                       "",
		"yesterday":                              "",
		"0001-01-01 00:00":                       "",
		"1 January 1970 00:00 UTC":               "",
		"Mon, 3 Aug 2026 99:99":                  "",
	} {
		got := dateIn(text, nil, tokyo)
		if want == "" {
			require.True(t, got.IsZero(), "%q is %v", text, got)
			continue
		}
		require.Equal(t, want, got.Format(time.RFC3339), "%q", text)
	}
}

func FuzzReadDate(f *testing.F) {
	f.Add("Tue, 15 Sept 2026 15:53:56 +0300")
	f.Add("2026年9月3日 午後2時05分")
	f.Fuzz(func(t *testing.T, text string) {
		got := dateIn(text, nil, nil)
		require.True(t, got.IsZero() || got.Year() > 1900 && got.Year() <= 9999)
	})
}
