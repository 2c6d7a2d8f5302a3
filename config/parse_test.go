package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bot/config"

	"github.com/stretchr/testify/require"
)

func TestTheEnvironmentIsExpandedInTextsAlone(t *testing.T) {
	t.Parallel()
	e := env{"A": "x", "YAML": "] }\n- name: evil", "_b1": "y", "AGAIN": "${A} $A $$"}
	for written, want := range map[string]string{
		"plain":                "plain",
		"${A}":                 "x",
		"a${A}b${A}c":          "axbxc",
		"${_b1}":               "y",
		"${NOPE:-d}":           "d",
		"${A:-d}":              "x",
		"${NOPE:-a b:-c}":      "a b:-c",
		"${NOPE:-}z":           "z",
		"${NOPE:-5 $$}":        "5 $",
		"$$":                   "$",
		"$${A}":                "${A}",
		"$$$${A}":              "$${A}",
		"$$${A}":               "$x",
		"a$":                   "a$",
		`\.html$|^$`:           `\.html$|^$`,
		"$5 and ($) $-":        "$5 and ($) $-",
		"${YAML}":              "] }\n- name: evil",
		"${AGAIN}":             "${A} $A $$",
		"{{range $$i := .X}}{": "{{range $i := .X}}{",
	} {
		t.Run(written, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{"'" + written + "'", `"` + strings.ReplaceAll(written, `\`, `\\`) + `"`, "|-\n      " + written} {
				c, err := parse(destination("    text: "+text+"\n    # ${NOT_SET}\n"), e)
				require.NoError(t, err)
				require.Equal(t, want, c.Destinations[0].Text.Value)
			}
		})
	}
}

func TestDurations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "7d": 168 * time.Hour, "1w2d": 9 * 24 * time.Hour,
		"1d12h": 36 * time.Hour, "1.5d": 36 * time.Hour, "2w": 14 * 24 * time.Hour, "500ms": 500 * time.Millisecond, "1d1d": 48 * time.Hour,
		".5w": 84 * time.Hour, "106751d": 106751 * 24 * time.Hour,
	} {
		d, err := config.ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, d, text)
	}
	for text, want := range map[string]string{
		"": "missing", "10": "10m", "1.5": "needs a unit", "-1d": "negative", "-5": "negative", "1x": "not a duration", "d": "not a duration",
		"1d 2h": "not a duration", "1dd": "not a duration", "+1d": "not a duration", "1..5d": "not a duration", "106752d": "not a duration",
		"106751d24h": "not a duration", "99999999999w": "not a duration", "1D": "not a duration", "P1D": "not a duration", "７d": "not a duration",
	} {
		_, err := config.ParseDuration(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestAliasesThatStandForTooMuchAreRefused(t *testing.T) {
	t.Parallel()
	var lists, merges strings.Builder
	lists.WriteString("a: &a0 [x]\n")
	for i := range 40 {
		fmt.Fprintf(&lists, "b%d: &a%d [%s]\n", i, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	merges.WriteString("m0: &m {")
	for i := range 1000 {
		fmt.Fprintf(&merges, "k%d: v,", i)
	}
	merges.WriteString("}\n")
	for i := range 1000 {
		fmt.Fprintf(&merges, "n%d: {<<: *m}\n", i)
	}
	for _, text := range []string{lists.String(), merges.String()} {
		_, err := parse(text, nil)
		require.ErrorContains(t, err, "the aliases here stand for too many values")
	}
}

func TestDeepAndWideDocumentsAreReadOrRefusedAtOnce(t *testing.T) {
	t.Parallel()
	var wide strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&wide, "key%d: v\n", i)
	}
	for name, text := range map[string]string{
		"lists":    strings.Repeat("[", 500_000),
		"closed":   strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
		"mappings": strings.Repeat("{a: ", 100_000),
		"entries":  strings.Repeat("- ", 500_000),
		"keys":     strings.Repeat("? ", 500_000),
		"wide":     wide.String(),
		"dollars":  destination("    text: '" + strings.Repeat("${A}", 200_000) + "'\n"),
	} {
		_, err := parse(text, env{"A": strings.Repeat("a", 1000)})
		require.Error(t, err, name)
		require.Regexp(t, `^bot\.yaml:\d+:\d+: `, err.Error(), name)
	}
}

func TestLineEndsAndByteOrderMarksMoveNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"timezone: UTC\nstate:\n  dri: x\n",
		"timezone: UTC\r\nstate:\r\n  dri: x\r\n",
		"---\nstate:\n  dri: x\n...\n# the end\n",
		"\ufefftimezone: UTC\nstate:\n  dri: x\n",
	} {
		_, err := parse(text, nil)
		require.EqualError(t, err, "bot.yaml:3:3: unknown key dri; did you mean dir?")
	}
	_, err := parse("state: {dir: 漫画, dri: x}\n", nil)
	require.EqualError(t, err, "bot.yaml:1:18: unknown key dri; did you mean dir?", "columns are characters")
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"good.yaml", "bad.yaml"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(f, err)
		f.Add(string(data))
	}
	f.Add("a: &a [*a]\n<<: *a\n")
	f.Add("sources: [{<<: [{name: ${A:-x}}]}, ~, !!int x, ? y]\n---\n")
	f.Add("%YAML 1.1\n---\n\"\\u0000\": |+2\n  x\n...\n")
	f.Add(destination("    webhook: ${S}\n    headers: {${S}: [$S]}\n"))
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "hunter2") || strings.Contains(text, "_file") {
			t.Skip("the secret is in the input, or a file of this machine is named")
		}
		c, err := parse(text, env{"S": "hunter2", "MANGA_WEBHOOK": "hunter2"})
		if c != nil {
			for _, d := range c.Destinations {
				err = config.Join(err, d.Settings.Decode(new(own)))
				require.Len(t, d.Settings.Fingerprint(), 32)
			}
		}
		if err == nil {
			return
		}
		require.NotContains(t, err.Error(), "hunter2")
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u0085") + strings.Count(text, "\u2028") + strings.Count(text, "\u2029")
		problems, ok := errors.AsType[config.Problems](err)
		require.True(t, ok)
		for _, p := range problems {
			require.NotEmpty(t, p.Text)
			require.Equal(t, "bot.yaml", p.File)
			require.True(t, p.Line >= 1 && p.Line <= lines+2 && p.Column >= 1, p.Error())
		}
	})
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"0", "7d", "1w2d", "1.5h", "-1s", "10", "9223372036854775807ns", "1µs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := config.ParseDuration(s)
		if err == nil {
			require.GreaterOrEqual(t, d, time.Duration(0))
		}
		if want, plainErr := time.ParseDuration(s); plainErr == nil && want >= 0 && !strings.HasPrefix(s, "+") && !strings.HasPrefix(s, "-") {
			require.NoError(t, err)
			require.Equal(t, want, d)
		}
	})
}
