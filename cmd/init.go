package cmd

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"text/template"

	"bot/config"
	"bot/queue/jsonstore"

	"github.com/spf13/cobra"
)

//go:embed init.yaml.tmpl
var configTemplate string

func newInitCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init [SITE…]",
		Short: "Write a config and open an empty ledger",
		Long: "Create what is missing and overwrite nothing: a commented bot.yaml with the sites' feeds filled in,\n" +
			"and the empty ledger in its state.dir. Do this once for a new fleet.",
		RunE: func(c *cobra.Command, sites []string) error { return a.runInit(c.Context(), sites) },
	}
}

// initReport is the result of init in JSON.
type initReport struct {
	Command string      `json:"command"`
	Config  string      `json:"config"`
	State   string      `json:"state"`
	Created []string    `json:"created"`
	Kept    []string    `json:"kept"`
	Sources []newSource `json:"sources"`
}

// newSource is a source for the config, made from the address of a site.
type newSource struct {
	Name string `json:"name"`
	// Kind is feed where one was found, else site.
	Kind  string `json:"kind"`
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

func (a *app) runInit(ctx context.Context, sites []string) error {
	r := &initReport{Command: "init", Config: a.configPath(), Created: []string{}, Kept: []string{}, Sources: []newSource{}}
	if err := r.discover(ctx, a, sites); err != nil {
		return err
	}
	if err := r.writeConfig(); err != nil {
		return err
	}
	cfg, err := config.Load(r.Config, a.env.Getenv)
	if err != nil {
		return err
	}
	r.State = cfg.State.Dir
	ledger, err := jsonstore.Init(r.State, a.env.Now())
	if err != nil {
		return err
	}
	r.Created = append(r.Created, ledger.Created...)
	a.printInit(r)
	return a.printJSON(r)
}

// discover finds the feed of each site. A site that cannot be read now is taken as
// it is: its feed is then looked for on every run.
func (r *initReport) discover(ctx context.Context, a *app, sites []string) error {
	taken := make(map[string]bool)
	for _, site := range sites {
		if !strings.Contains(site, "://") {
			site = "https://" + site
		}
		u, err := url.Parse(site)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return usagef("init: %q is not the address of a site", site)
		}
		s := newSource{Name: sourceName(u.Hostname(), taken), Kind: "site", URL: site}
		feed, title, err := a.collector().Discover(ctx, site)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			a.log.Warn("no feed found yet; the site is kept as a source, and its feed looked for on every run", "site", site, "error", err)
		} else {
			s.Kind, s.URL, s.Title = "feed", feed, oneLine(title, 80)
		}
		r.Sources = append(r.Sources, s)
	}
	return nil
}

var notInName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]+`) })

// sourceName makes a name of a host, and notes it as taken.
func sourceName(host string, taken map[string]bool) string {
	name := strings.Trim(notInName().ReplaceAllString(strings.TrimPrefix(strings.ToLower(host), "www."), "-"), "-")
	if name == "" {
		name = "site"
	}
	base := name
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	taken[name] = true
	return name
}

// writeConfig writes the config file, unless there is one. It is for its owner's
// eyes, since webhooks may come to stand in it.
func (r *initReport) writeConfig() error {
	text, err := renderConfig(r.Sources)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.Config), 0o755); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	file, err := os.OpenFile(r.Config, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		r.Kept = append(r.Kept, r.Config)
		return nil
	}
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	r.Created = append(r.Created, r.Config)
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	return nil
}

// renderConfig returns a config file with these sources.
func renderConfig(sources []newSource) ([]byte, error) {
	t, err := template.New("config").Funcs(template.FuncMap{"quote": yamlQuote}).Parse(configTemplate)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, sources)
	return b.Bytes(), err
}

// yamlQuote writes a text as a single-quoted YAML scalar, with dollars doubled so
// that nothing in it expands.
func yamlQuote(s string) string {
	return "'" + strings.NewReplacer("'", "''", "$", "$$").Replace(s) + "'"
}

func (a *app) printInit(r *initReport) {
	for _, p := range r.Created {
		a.printf("created  %s\n", p)
	}
	for _, p := range r.Kept {
		a.printf("kept     %s\n", p)
	}
	if len(r.Kept) > 0 && len(r.Sources) > 0 {
		a.printf("\nThe config was there already and is unchanged. For these sites, add to its sources:\n")
		for _, s := range r.Sources {
			a.printf("  - name: %s\n    %s: %s\n", s.Name, s.Kind, yamlQuote(s.URL))
		}
	}
	a.printf("\nNext: say in %s where announcements go, set FLEET_HOST to the host name of the\nmachine that owns this state, and put `bot run` into cron. `bot check` looks at everything\nwithout sending; `bot preview` shows what would be said.\n", r.Config)
}
