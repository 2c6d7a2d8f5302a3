package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bot/config"

	"github.com/stretchr/testify/require"
)

// mistake is a config with one thing wrong, and the line that says so.
type mistake struct{ name, text, want string }

func checkMistakes(t *testing.T, mistakes []mistake) {
	t.Helper()
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			_, err := parse(m.text, env{"SET": "v", "SECRET": "hunter2", "BIG": "99999999999"})
			require.EqualError(t, err, m.want)
			require.ErrorAs(t, err, new(config.Problems))
		})
	}
}

// source and friends make a whole config of the lines of one section.
func source(lines string) string {
	return "sources:\n  - name: a\n    feed: https://a.example/feed\n" + lines
}

func destination(lines string) string { return "destinations:\n  - name: d\n" + lines }

func rule(lines string) string {
	return "sources: [{name: manga, feed: https://a.example/}]\ndestinations: [{name: news-x}]\nrules:\n  - name: r\n" + lines
}

func TestWhatIsNotYAMLIsPlaced(t *testing.T) {
	t.Parallel()
	checkMistakes(t, []mistake{
		{"an empty file", "", "bot.yaml:1:1: there is nothing in the file; `bot init` writes one to begin with"},
		{"a file of comments", "# nothing\n", "bot.yaml:1:1: there is nothing in the file; `bot init` writes one to begin with"},
		{"a null document", "~\n", "bot.yaml:1:1: there is nothing in the file; `bot init` writes one to begin with"},
		{"a document that is a text", "hello\n", "bot.yaml:1:1: config: want a mapping, not a text"},
		{"a document that is a list", "- a\n", "bot.yaml:1:1: config: want a mapping, not a list"},
		{"a tab for indentation", "state:\n\tdir: x\n", "bot.yaml:2:1: not YAML: while scanning for the next token: found character that cannot start any token"},
		{"a list without an end", "sources: [a, b\ntimezone: UTC\n", "bot.yaml:2:9: not YAML: while parsing a flow sequence that begins on line 1: did not find expected ',' or ']'"},
		{"a quote without an end", "timezone: \"UTC\nstate: {}\n", "bot.yaml:3:1: not YAML: while scanning a quoted scalar that begins on line 1: found unexpected end of stream"},
		{"two values for a key", "timezone: a: b\n", "bot.yaml:1:12: not YAML: mapping values are not allowed in this context"},
		{"a key that is further in than the others", "timezone: UTC\n state: {}\n", "bot.yaml:2:7: not YAML: mapping values are not allowed in this context"},
		{"an escape that there is none of", `timezone: "\q"`, "bot.yaml:1:12: not YAML: while scanning a quoted scalar: found unknown escape character"},
		{"a version of YAML", "%YAML 1.2\n---\ntimezone: UTC\n", "bot.yaml:1:1: leave the line with %YAML out"},
		{"a second document", "timezone: UTC\n---\nstate: {}\n", "bot.yaml:2:1: a second document begins here; the config is one document"},
		{"a byte that is not UTF-8", "timezone: UTC # caf\xe9\n", "bot.yaml:1:20: not UTF-8"},
		{"UTF-16", "\xff\xfet\x00", "bot.yaml:1:1: the file is UTF-16; save it as UTF-8"},
		{"a control character", "timezone: UTC\nstate: {dir: \"a\x1b\"}\n", "bot.yaml:2:16: a control character, which has no place in a config"},
		{"a key that is a list", "? [a]\n: b\n", "bot.yaml:1:3: a key is a name; put a text that holds { or [ in quotes"},
		{"an unquoted template", destination("    text: {{.URL}}\n"), "bot.yaml:3:11: text: want a text, not a mapping\nbot.yaml:3:12: a key is a name; put a text that holds { or [ in quotes"},
		{"a tag", destination("    text: !secret x\n"), "bot.yaml:3:11: a tag (!) is of no use here; put a text that begins with ! in quotes"},
		{"an alias without an anchor", destination("    text: *hunter2\n"), "bot.yaml:3:11: this alias (*name) has no anchor (&name) before it; put a text that begins with * in quotes"},
		{"an alias of itself", "sources: &a [*a]\n", "bot.yaml:1:14: this alias is part of what it stands for"},
		{"a merge of something else", source("    <<: [1]\n"), "bot.yaml:4:9: << takes the keys of a mapping, or of a list of mappings"},
		{"a key that is here twice", "timezone: UTC\nstate: {}\ntimezone: UTC\n", "bot.yaml:3:1: key timezone is here twice; first on line 1"},
		{"a key that is here twice in one line", destination("    settings: {a: 1, a: 2}\n"), "bot.yaml:3:22: key a is here twice; first on line 3"},
	})
}

func TestWhatIsWrongWithKeysAndKindsIsPlaced(t *testing.T) {
	t.Parallel()
	checkMistakes(t, []mistake{
		{"an unknown key that is nearly one", source("    maxage: 7d\n"), "bot.yaml:4:5: unknown key maxage; did you mean max_age?"},
		{"an unknown key with swapped letters", "soruces: []\n", "bot.yaml:1:1: unknown key soruces; did you mean sources?"},
		{"an unknown key that is like none", "colour: red\n", "bot.yaml:1:1: unknown key colour; known here: timezone, state, sources, destinations, rules, serve"},
		{"an unknown key in state", "state: {folder: x}\n", "bot.yaml:1:9: unknown key folder; known here: backend, dir, project, database, fleet"},
		{"an unknown key in a filter", rule("    match: {titel: x}\n"), "bot.yaml:5:13: unknown key titel; did you mean title?"},
		{"a value that lost its key is not shown", source("    https://hunter2.example/: x\n"), "bot.yaml:4:5: unknown key (hidden); known here: name, max_age, first_run, brake, strip_params, hosts, timezone, feed, site, sitemap, list, ready, guid"},
		{"sources without a value", "sources:\n", "bot.yaml:1:9: sources has no value; want a list, or leave the key out"},
		{"sources that are a mapping", "sources: {name: a}\n", "bot.yaml:1:10: sources: want a list, not a mapping"},
		{"a source that is a text", "sources: [manga]\n", "bot.yaml:1:11: source: want a mapping, not a text"},
		{"state that is a text", "state: here\n", "bot.yaml:1:8: state: want a mapping, not a text"},
		{"a list that is one text", rule("    from: manga\n"), "bot.yaml:5:11: from: want a list, as in [one, two]"},
		{"a list with a number in it", source("    hosts: [1]\n"), "bot.yaml:4:13: in hosts: want a text; put it in quotes"},
		{"a list with nothing in an entry", source("    hosts: ['']\n"), "bot.yaml:4:13: an entry of hosts is empty"},
		{"a text that is a number", destination("    text: 12\n"), "bot.yaml:3:11: text: want a text; put it in quotes"},
		{"a text that is empty", destination("    text: ''\n"), "bot.yaml:3:11: text is empty; leave it out, or give it a value"},
		{"a text without a value", destination("    text:\n"), "bot.yaml:3:10: text has no value; want a text, or leave the key out"},
		{"a number in quotes", source("    brake: '20'\n"), "bot.yaml:4:12: brake: want a number; leave the quotes out"},
		{"a number that is a text", source("    brake: many\n"), "bot.yaml:4:12: brake: want a number, not a text"},
		{"a number that is not whole", source("    brake: 1.5\n"), `bot.yaml:4:12: brake: want a whole number, not "1.5"`},
		{"a negative number", source("    brake: -1\n"), "bot.yaml:4:12: brake: want a number from 0"},
		{"a number of the environment that is none", source("    brake: ${SECRET}\n"), `bot.yaml:4:12: brake: want a whole number, not "${SECRET}"`},
		{"a number of the environment that is too large", source("    brake: ${BIG}\n"), "bot.yaml:4:12: brake: want a number from 0"},
		{"a flag that is a text", source("    ready: yes\n"), "bot.yaml:4:12: ready: want true or false, not a text"},
	})
}

func TestWhatIsWrongWithValuesIsPlaced(t *testing.T) {
	t.Parallel()
	checkMistakes(t, []mistake{
		{"a zone that there is none of", "timezone: Asia/Tokio\n", `bot.yaml:1:11: timezone: "Asia/Tokio" is not a time zone; write one like Asia/Tokyo or UTC`},
		{"the machine's own zone", "timezone: Local\n", `bot.yaml:1:11: timezone: "Local" is not a time zone; write one like Asia/Tokyo or UTC`},
		{"a zone of the environment", "timezone: ${SECRET}\n", `bot.yaml:1:11: timezone: "${SECRET}" is not a time zone; write one like Asia/Tokyo or UTC`},
		{"a backend that there is none of", "state: {backend: locol}\n", `bot.yaml:1:18: backend: want local or firestore, not "locol"; did you mean local?`},
		{"a duration without a unit", source("    max_age: 10\n"), `bot.yaml:4:14: max_age: "10": a duration needs a unit; write for example 10m for minutes`},
		{"a duration below zero", source("    max_age: -1h\n"), `bot.yaml:4:14: max_age: "-1h": a duration cannot be negative`},
		{"a duration in words", source("    max_age: soon\n"), `bot.yaml:4:14: max_age: "soon": not a duration; write for example 30m, 12h, 7d or 2w`},
		{"a duration of the environment", source("    max_age: ${SECRET}\n"), `bot.yaml:4:14: max_age: "${SECRET}" is not a duration; write for example 30m, 12h, 7d or 2w`},
		{"a duration that is a list", source("    max_age: [1d]\n"), "bot.yaml:4:14: max_age: want a duration like 30m, 12h or 7d, not a list"},
		{"a duration that is true", source("    max_age: true\n"), "bot.yaml:4:14: max_age: want a duration like 30m, 12h or 7d, not true or false"},
		{"a duration without a value", source("    max_age:\n"), "bot.yaml:4:13: max_age has no value; want a duration like 30m, 12h or 7d, or leave the key out"},
		{"a first run in words", source("    first_run: some\n"), `bot.yaml:4:16: first_run: "some": not a duration; write for example 30m, 12h, 7d or 2w; or none, or all`},
		{"a name with a capital", "sources: [{name: Manga, feed: https://a.example}]\n", `bot.yaml:1:18: name: "Manga": a name is a to z, 0 to 9, _ and -, begins with a letter or digit, and has at most 64 characters`},
		{"a name that is too long", "destinations: [{name: " + strings.Repeat("a", 65) + "}]\n", `bot.yaml:1:23: name: "` + strings.Repeat("a", 60) + `…": a name is a to z, 0 to 9, _ and -, begins with a letter or digit, and has at most 64 characters`},
		{"a name that is a number", "destinations: [{name: 7}]\n", "bot.yaml:1:23: name: want a text; put it in quotes"},
		{"a source without a name", "sources: [{feed: https://a.example}]\n", "bot.yaml:1:11: this source has no name; give it one, as in name: news"},
		{"a name that is taken", "destinations:\n  - name: a\n  - name: a\n", `bot.yaml:3:11: there is another destination with the name "a", on line 2`},
		{"a source without an address", "sources: [{name: a}]\n", "bot.yaml:1:11: this source has no address; give it one of feed, site, sitemap or list"},
		{"a source with two addresses", source("    site: https://a.example\n"), "bot.yaml:4:11: site: the source has feed already; make two sources of them"},
		{"an address of another scheme", "sources: [{name: a, feed: 'ftp://hunter2@a.example'}]\n", "bot.yaml:1:27: feed: want an address that begins with https:// or http://, or a path"},
		{"an address that cannot be read", "sources: [{name: a, feed: 'https://hunter2:%zz@a.example'}]\n", "bot.yaml:1:27: feed: not an address that a request can be made to"},
		{"an address without a host", "sources: [{name: a, feed: 'https:///feed'}]\n", "bot.yaml:1:27: feed: not an address that a request can be made to"},
		{"an address without its scheme", "sources: [{name: a, feed: a.example/feed.xml}]\n", "bot.yaml:1:27: feed: an address begins with https:// or http://; put ./ before the path of a file"},
		{"a site without its scheme", "sources: [{name: a, site: www.a.example}]\n", "bot.yaml:1:27: site: an address begins with https:// or http://; put ./ before the path of a file"},
		{"a host that is an address", source("    hosts: [https://old.example]\n"), "bot.yaml:4:13: hosts: want a host name only, as in old.example.com"},
		{"a host with a port", source("    hosts: ['old.example:8080']\n"), "bot.yaml:4:13: hosts: want a host name only, as in old.example.com"},
		{"a host with nothing for a port", source("    hosts: ['old.example:']\n"), "bot.yaml:4:13: hosts: want a host name only, as in old.example.com"},
		{"an expression that is none", rule("    match: {title: '(a'}\n"), "bot.yaml:5:20: title: not a regular expression (RE2): missing closing ): `(a`"},
		{"an expression of the environment", rule("    match: {title: '(${SECRET}'}\n"), `bot.yaml:5:20: title: "(${SECRET}" is not a regular expression (RE2)`},
		{"a category list that is empty", rule("    match: {category: []}\n"), "bot.yaml:5:23: category is empty; leave it out for all"},
		{"a source that there is none of", rule("    from: [manag]\n"), `bot.yaml:5:12: from: there is no source "manag"; did you mean manga?`},
		{"a destination that there is none of", rule("    to: [elsewhere]\n"), `bot.yaml:5:10: to: there is no destination "elsewhere"`},
		{"a source that is named twice", rule("    from: [manga, manga]\n"), `bot.yaml:5:19: from: "manga" is here twice`},
		{"a list of sources that is empty", rule("    from: []\n"), "bot.yaml:5:11: from is empty; leave it out for all"},
		{"no rules", "rules: []\n", "bot.yaml:1:8: rules is empty, so nothing would be announced; leave it out for every source to every destination"},
		{"rules that are a mapping", "rules: {}\n", "bot.yaml:1:8: rules: want a list, not a mapping"},
		{"a rule without a name", "rules: [{mode: live}]\n", "bot.yaml:1:9: this rule has no name; give it one, as in name: news"},
		{"a mode that there is none of", rule("    mode: shdow\n"), `bot.yaml:5:11: mode: want live or shadow, not "shdow"; did you mean shadow?`},
		{"a cadence that there is none of", rule("    announce: yearly\n"), `bot.yaml:5:15: announce: want once or daily or weekly or monthly, not "yearly"`},
		{"a quiet time without an end", destination("    quiet: 22:00\n"), "bot.yaml:3:12: quiet: want two times, as in 22:00-07:00"},
		{"a quiet time of no length", destination("    quiet: 24:00-00:00\n"), "bot.yaml:3:12: quiet: want two times, as in 22:00-07:00"},
		{"a quiet time that is none", destination("    quiet: 07:00-07:00\n"), "bot.yaml:3:12: quiet: begins when it ends; leave it out, or give two times that differ"},
		{"slots that are none", destination("    slots: []\n"), "bot.yaml:3:12: slots is empty; leave it out to post at once"},
		{"every 0th", rule("    announce: {every: 0}\n"), "bot.yaml:5:15: announce: want once, daily, weekly, monthly or every: N, with N from 1"},
		{"a place to listen that is none", "serve: {listen: localhost}\n", "bot.yaml:1:17: listen: want host:port or :port"},
		{"a ping to nowhere", "serve: {ping: hc.example}\n", "bot.yaml:1:15: ping: want an address that begins with https:// or http://"},
		{"a negative number in a run", destination("    max_per_run: -3\n"), "bot.yaml:3:18: max_per_run: want a number from 0"},
	})
}

func TestWhatIsWrongWithTheEnvironmentIsPlaced(t *testing.T) {
	t.Parallel()
	checkMistakes(t, []mistake{
		{"a name that is not set", destination("    webhook: ${NEWS_WEBHOOK}\n"), "bot.yaml:3:14: ${NEWS_WEBHOOK} is not set in the environment, or empty; set NEWS_WEBHOOK, or give a default as in ${NAME:-default}"},
		{"a name that is not set in a key nobody knows", "x: ${NOPE}\n", "bot.yaml:1:1: unknown key x; known here: timezone, state, sources, destinations, rules, serve\nbot.yaml:1:4: ${NOPE} is not set in the environment, or empty; set NOPE, or give a default as in ${NAME:-default}"},
		{"a reference without an end", destination("    text: 'a ${SET'\n"), "bot.yaml:3:11: ${ has no closing }; for a dollar write $$"},
		{"a reference without a name", destination("    text: '${}'\n"), "bot.yaml:3:11: ${…} takes a name, as in ${NAME} or ${NAME:-default}; for a dollar write $$"},
		{"a reference with another form", destination("    text: '${SET:?no}'\n"), "bot.yaml:3:11: ${…} takes a name, as in ${NAME} or ${NAME:-default}; for a dollar write $$"},
		{"a reference in a default", destination("    text: '${NOPE:-${SET}}'\n"), "bot.yaml:3:11: the default of ${NOPE} cannot hold another ${"},
		{"a name without braces", destination("    webhook: https://a.example/$hunter2\n"), "bot.yaml:3:14: a $ before a letter: write ${NAME} for a variable of the environment, or $$ for a dollar"},
		{"a value that is empty", destination("    text: '${NOPE:-}'\n"), "bot.yaml:3:11: text is empty; leave it out, or give it a value"},
	})
}

func TestTenMistakesAreTenProblemsInTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("testdata", "bad.yaml"))
	require.NoError(t, err)
	c, err := parse(string(data), nil)
	require.NotNil(t, c, "the config is returned beside the problems, for others to find more")
	problems, ok := errors.AsType[config.Problems](err)
	require.True(t, ok)
	require.Len(t, problems, 10)
	golden := filepath.Join("testdata", "bad.golden")
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), problems.Error()+"\n")
}

func TestJoinSortsProblemsAndKeepsEachOnce(t *testing.T) {
	t.Parallel()
	at := func(line, column int, text string) config.Problem {
		return config.Problem{File: "f", Line: line, Column: column, Text: text}
	}
	other := errors.New("other")
	require.NoError(t, config.Join())
	require.NoError(t, config.Join(nil, nil))
	require.Equal(t, other, errors.Unwrap(fmt.Errorf("%w", config.Join(other))).(interface{ Unwrap() []error }).Unwrap()[0])

	joined := config.Join(at(3, 1, "c"), nil, config.Problems{at(2, 9, "b"), at(2, 1, "a")},
		errors.Join(at(3, 1, "c"), fmt.Errorf("wrapped: %w", at(1, 1, "z"))))
	require.Equal(t, config.Problems{at(1, 1, "z"), at(2, 1, "a"), at(2, 9, "b"), at(3, 1, "c")}, joined)

	mixed := config.Join(at(1, 1, "a"), other)
	require.ErrorIs(t, mixed, other)
	require.ErrorAs(t, mixed, new(config.Problems))
	require.EqualError(t, mixed, "f:1:1: a\nother")
}
