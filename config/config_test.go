package config_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bot/config"

	"github.com/stretchr/testify/require"
)

// env is an environment that holds nothing else.
type env map[string]string

func (e env) get(name string) string { return e[name] }

// parse parses a config that lies in /srv/bot.
func parse(text string, e env) (*config.Config, error) {
	return config.Parse("bot.yaml", []byte(text), "/srv/bot", e.get)
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

func TestLoadReadsEverythingAConfigCanSay(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "good.yaml")
	c, err := config.Load(path, env{
		"MANGA_WEBHOOK": "https://hooks.example/s3cret: {", "BRAKE": "7",
	}.get)
	require.NoError(t, err)

	dir, err := filepath.Abs("testdata")
	require.NoError(t, err)
	require.Equal(t, path, c.File)
	require.Equal(t, dir, c.Dir)
	require.Equal(t, "Asia/Tokyo", c.Timezone.String())
	require.Equal(t, "local", c.State.Backend)
	require.Equal(t, filepath.Join(filepath.Dir(dir), "ledger"), c.State.Dir)

	require.Len(t, c.Sources, 4)
	for i := range c.Sources {
		c.Sources[i].Spot = config.Spot{}
	}
	require.Equal(t, []config.Source{
		{
			Name: "manga", Kind: "feed", Location: "https://manga.example.jp/feed.xml", MaxAge: 14 * 24 * time.Hour,
			FirstRun: config.FirstRun{All: true}, StripParams: []string{"ref", "from"},
			Hosts: []string{"old.example.jp", "漫画.example"}, Timezone: zone(t, "Europe/Berlin"),
		},
		{
			Name: "site-2", Kind: "site", Location: "http://example.com", MaxAge: 7 * 24 * time.Hour,
			Brake: 20, Timezone: c.Timezone, GUID: true,
		},
		{
			Name: "by_hand", Kind: "list", Location: filepath.Join(dir, "urls.txt"), MaxAge: 36 * time.Hour,
			Brake: 20, Timezone: c.Timezone, GUID: true,
		},
		{
			Name: "file", Kind: "feed", Location: filepath.Join(dir, "feeds", "a.xml"), MaxAge: 7 * 24 * time.Hour,
			FirstRun: config.FirstRun{Within: 7 * 24 * time.Hour}, Brake: 7, Timezone: c.Timezone, GUID: true,
		},
	}, c.Sources)

	require.Len(t, c.Destinations, 2)
	d := c.Destinations[0]
	require.Equal(t, "manga-x", d.Name)
	require.Equal(t, "webhook", d.Type)
	require.Equal(t, 10*time.Minute, d.MinInterval)
	require.Equal(t, 3, d.MaxPerRun)
	require.Equal(t, "{{.Title}} costs $5\n{{.URL}}\n", d.Text.Value)
	require.Len(t, d.FormerWebhooks, 2)
	require.Equal(t, "https://hooks.example/s3cret: {/old", d.FormerWebhooks[0].Reveal())
	require.Equal(t, "https://hooks.example/plain", d.FormerWebhooks[1].Reveal())
	require.Equal(t, "console", c.Destinations[1].Type)
	require.Len(t, c.Destinations[1].Slots, 2)
	require.Equal(t, "0 9,12,18 * * *", c.Destinations[1].Slots[0].Value)
	require.EqualError(t, c.Destinations[1].Slots[1].Errorf("no"), path+":41:32: no")
	require.Equal(t, config.Quiet{From: 22 * time.Hour, To: 7*time.Hour + 30*time.Minute}, c.Destinations[1].Quiet)
	require.Equal(t, 20, c.Destinations[1].MaxPerDay)

	var own struct {
		Webhook config.Secret            `yaml:"webhook,required"`
		Secret  config.Secret            `yaml:"secret"`
		Headers map[string]config.Secret `yaml:"headers"`
		Nested  struct {
			On    bool          `yaml:"on"`
			Every time.Duration `yaml:"every"`
		} `yaml:"nested"`
	}
	require.NoError(t, d.Settings.Decode(&own))
	require.Equal(t, "https://hooks.example/s3cret: {", own.Webhook.Reveal())
	require.Equal(t, "whsec_from_a_file", own.Secret.Reveal())
	require.Equal(t, "a: b", own.Headers["X-Team"].Reveal())
	require.Equal(t, "whsec_from_a_file", own.Headers["Authorization"].Reveal())
	require.True(t, own.Nested.On)
	require.Equal(t, 90*time.Second, own.Nested.Every)

	require.Len(t, c.Rules, 2)
	r := c.Rules[0]
	require.Equal(t, "manga", r.Name)
	require.Equal(t, []string{"manga", "file"}, r.From)
	require.Equal(t, []string{"manga-x"}, r.To)
	require.Equal(t, `(?i)新刊|\d+$`, r.Match.Title.String())
	require.Equal(t, `^https://`, r.Match.URL.String())
	require.Equal(t, []string{"manga", "book"}, r.Match.Category)
	require.Equal(t, config.Filter{Category: []string{"pr"}}, r.Exclude)
	require.Equal(t, "{{.URL}}", r.Text.Value)
	require.Nil(t, c.Rules[1].From)
	require.Nil(t, c.Rules[1].To)
	require.Empty(t, c.Rules[1].Text.Value)
	require.Equal(t, []any{"once", 0, "article", false}, []any{r.Announce, r.Every, r.Per, r.Shadow})
	r = c.Rules[1]
	require.Equal(t, []any{"every", 5, "category", true}, []any{r.Announce, r.Every, r.Per, r.Shadow})
	require.Equal(t, []string{"*/10 * * * *", "* * * * *", ":9090", ""},
		[]string{c.Serve.Enqueue.Value, c.Serve.Process.Value, c.Serve.Listen, c.Serve.Ping})
}

func TestDefaultsStandForWhatTheFileLeavesOut(t *testing.T) {
	t.Parallel()
	c, err := parse("sources: [{name: a, feed: https://a.example/feed}]\ndestinations: [{name: b}]\n", nil)
	require.NoError(t, err)
	require.Equal(t, time.UTC, c.Timezone)
	require.Equal(t, "local", c.State.Backend)
	require.Equal(t, filepath.FromSlash("/srv/bot/state"), c.State.Dir)
	require.Equal(t, 7*24*time.Hour, c.Sources[0].MaxAge)
	require.Equal(t, config.FirstRun{Within: 24 * time.Hour}, c.Sources[0].FirstRun)
	require.Equal(t, 20, c.Sources[0].Brake)
	require.Equal(t, time.UTC, c.Sources[0].Timezone)
	require.Equal(t, "webhook", c.Destinations[0].Type)
	require.Zero(t, c.Destinations[0].MinInterval)
	require.Zero(t, c.Destinations[0].MaxPerRun)
	require.Empty(t, c.Destinations[0].Text.Value)
	require.Len(t, c.Rules, 1)
	require.Equal(t, "default", c.Rules[0].Name)
	require.Nil(t, c.Rules[0].From)
	require.Nil(t, c.Rules[0].To)
}

func TestAConfigWithoutSourcesAndDestinationsIsFine(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"timezone: UTC\n", "sources: []\ndestinations: []\n", "{}"} {
		_, err := parse(text, nil)
		require.NoError(t, err, text)
	}
}

func TestLoadTellsAMissingFileFromABrokenOne(t *testing.T) {
	t.Parallel()
	c, err := config.Load(filepath.Join(t.TempDir(), "bot.yaml"), env{}.get)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Nil(t, c)

	c, err = config.Load(t.TempDir(), env{}.get)
	require.ErrorContains(t, err, "read config: ")
	require.Nil(t, c)
}

func TestAFileOfMoreThanOneMebibyteIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bot.yaml")
	comment := "# " + strings.Repeat("x", 1<<20-len("# \ntimezone: UTC\n")) + "\ntimezone: UTC\n"
	require.Len(t, comment, 1<<20)
	require.NoError(t, os.WriteFile(path, []byte(comment), 0o600))
	_, err := config.Load(path, env{}.get)
	require.NoError(t, err)

	require.NoError(t, os.WriteFile(path, []byte(comment+"\n"), 0o600))
	_, err = config.Load(path, env{}.get)
	require.EqualError(t, err, path+": larger than 1 MiB")
}

func TestAliasesAndMergeKeysStandForWhatTheyName(t *testing.T) {
	t.Parallel()
	c, err := parse(`
sources:
  - &base {name: a, feed: https://a.example/feed, max_age: 1d, hosts: &hosts [old.example]}
  - {<<: *base, name: b, brake: 3}
  - name: c
    feed: https://c.example/feed
    hosts: *hosts
    <<: [{max_age: 2d}, *base]
`, nil)
	require.NoError(t, err)
	require.Equal(t, "b", c.Sources[1].Name)
	require.Equal(t, "https://a.example/feed", c.Sources[1].Location)
	require.Equal(t, 24*time.Hour, c.Sources[1].MaxAge)
	require.Equal(t, 3, c.Sources[1].Brake)
	require.Equal(t, "https://c.example/feed", c.Sources[2].Location)
	require.Equal(t, 48*time.Hour, c.Sources[2].MaxAge)
	require.Equal(t, []string{"old.example"}, c.Sources[2].Hosts)
}
