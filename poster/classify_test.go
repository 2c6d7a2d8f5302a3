package poster_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func TestAPlatformSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		header http.Header
		body   string
		want   time.Duration
	}{
		"in whole seconds":                      {header("Retry-After", "2"), "", 2 * time.Second},
		"in parts of a second":                  {header("Retry-After", "2.3"), "", 3 * time.Second},
		"at a date":                             {header("Retry-After", "Mon, 30 Nov 2026 00:10:00 GMT"), "", 10 * time.Minute},
		"at a date that is over":                {header("Retry-After", "Sun, 29 Nov 2026 00:10:00 GMT"), "", time.Second},
		"at once":                               {header("Retry-After", "0"), "", time.Second},
		"in a year":                             {header("Retry-After", "31536000"), "", 7 * 24 * time.Hour},
		"in more than can be counted":           {header("Retry-After", "999999999999"), "", 7 * 24 * time.Hour},
		"in the answer, the longer":             {header("Retry-After", "1"), `{"retry_after":1.337}`, 2 * time.Second},
		"in the header, the longer":             {header("Retry-After", "65"), `{"retry_after":64.57}`, 65 * time.Second},
		"in the answer alone, at once":          {nil, `{"retry_after":0}`, time.Second},
		"in the answer alone, far too much":     {nil, `{"retry_after":1e300}`, 7 * 24 * time.Hour},
		"when its limit is reset, ISO 8601":     {header("X-RateLimit-Reset", "2026-11-30T00:05:00.000Z"), "", 5 * time.Minute},
		"when its limit is reset, Unix":         {header("x-ratelimit-reset", "1795997400"), "", 10 * time.Minute},
		"when its limit is reset, X-Rate-Limit": {header("x-rate-limit-reset", "1795997400"), "", 10 * time.Minute},
		"when its limit is reset, RateLimit":    {header("RateLimit-Reset", "1795997400"), "", 10 * time.Minute},
		"when its limit is reset, in seconds":   {header("RateLimit-Reset", "30"), "", 30 * time.Second},
		"how long until then":                   {header("X-RateLimit-Reset-After", "4.2"), "", 5 * time.Second},
		"not":                                   {nil, "<html>", time.Minute},
		"nothing that makes sense":              {header("Retry-After", "soon"), `{"retry_after":"x"}`, time.Minute},
		"nothing but tricks":                    {header("Retry-After", "0x10"), `{"retry_after":-5}`, time.Minute},
		"in no numbers":                         {header("Retry-After", "NaN", "X-RateLimit-Reset", "Inf"), "", time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := client(nil).Classify(poster.Response{Status: 429, Header: test.header, Body: []byte(test.body)})
			e, ok := errors.AsType[*poster.Error](err)
			require.True(t, ok)
			require.Equal(t, poster.Later, e.Outcome)
			require.Equal(t, now.Add(test.want), e.NotBefore)
		})
	}
}

func TestAServiceThatIsNotAvailableIsLaterOnlyWhenItNamesATime(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]poster.Outcome{"120": poster.Later, "0": poster.Later, "": poster.Unknown, "soon": poster.Unknown} {
		h := http.Header{}
		if after != "" {
			h.Set("Retry-After", after)
		}
		err := client(nil).Classify(poster.Response{Status: 503, Header: h})
		require.Equal(t, want, poster.OutcomeOf(err), after)
	}
}

func TestAReasonHoldsWhatTheServerSaidInOneShortLine(t *testing.T) {
	t.Parallel()
	c := client(nil, "https://hooks.example.com/SECRETPATH")
	for name, test := range map[string]struct {
		body, want string
	}{
		"a message":               {`{"message":"Unknown Webhook","code":10015}`, "not accepted (Unknown Webhook); check the webhook and its credentials (HTTP 401)"},
		"an error in an error":    {`{"error":{"message":"no such key"}}`, "not accepted (no such key); check the webhook and its credentials (HTTP 401)"},
		"a code":                  {`{"code":40101}`, "not accepted (code 40101); check the webhook and its credentials (HTTP 401)"},
		"a word":                  {"invalid_token\n", "not accepted (invalid_token); check the webhook and its credentials (HTTP 401)"},
		"a page":                  {"<html><body>no", "not accepted; check the webhook and its credentials (HTTP 401)"},
		"nothing":                 {"", "not accepted; check the webhook and its credentials (HTTP 401)"},
		"a secret":                {`{"message":"no hook at /SECRETPATH"}`, "not accepted (no hook at [redacted]); check the webhook and its credentials (HTTP 401)"},
		"lines and escape codes":  {"a\n\x1b[2Jb", "not accepted (a [2Jb); check the webhook and its credentials (HTTP 401)"},
		"JSON without a message":  {`[1,2]`, "not accepted; check the webhook and its credentials (HTTP 401)"},
		"a message that is empty": {`{"message":"","detail":"because"}`, "not accepted (because); check the webhook and its credentials (HTTP 401)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.Classify(poster.Response{Status: 401, Body: []byte(test.body)})
			require.EqualError(t, err, test.want)
		})
	}
	err := c.Classify(poster.Response{Status: 400, Body: []byte(strings.Repeat("long ", 10000))})
	require.Less(t, utf8.RuneCountInString(err.Error()), 300)
	err = c.Classify(poster.Response{Status: 308, Header: header("Location", "https://elsewhere.example/")})
	require.NotContains(t, err.Error(), "elsewhere")
}
