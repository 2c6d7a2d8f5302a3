package cmd_test

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the module's name in go.mod, and the first element of every import
// of one of our own packages.
const module = "bot"

// importRule says which of our packages a package may import. Packages are named
// by their folder and matched as path.Match does.
type importRule struct {
	pkg string
	may []string
	// tests is what its test files may import besides.
	tests []string
}

// importRules are "who may import whom" of docs/architecture.md. The first that
// matches a package counts, and every package needs one. Test files may also
// import the package they test and any contract package (see isContract).
var importRules = []importRule{
	{pkg: ".", may: []string{"cmd"}},
	{pkg: "cmd", may: []string{"*", "*/*"}},
	{pkg: "config"},
	{pkg: "dedupe"},
	{pkg: "poster"},
	{pkg: "poster/platforms", may: []string{"poster", "poster/*"}},
	{pkg: "poster/*", may: []string{"poster"}},
	{pkg: "queue", may: []string{"dedupe", "poster"}, tests: []string{"queue/jsonstore"}},
	{pkg: "queue/collect", may: []string{"queue", "dedupe"}},
	{pkg: "queue/firestoretest"},
	{pkg: "queue/*", may: []string{"queue", "dedupe", "poster"}},
}

// thirdParty says who may import a module that is not ours.
type thirdParty struct {
	module string
	by     []string
	// tests: any test file and any contract package may.
	tests bool
}

// thirdParties has one row for every module we import. Each has one importer, or
// as few as can be, so that it can be replaced in one place.
var thirdParties = []thirdParty{
	{module: "github.com/VictoriaMetrics/metrics", by: []string{"cmd"}},
	{module: "cloud.google.com/go/firestore", by: []string{"queue/firestore"}, tests: true},
	{module: "github.com/go-json-experiment/json", by: []string{"queue", "queue/jsonstore", "queue/firestore", "queue/storetest"}},
	{module: "github.com/google/uuid", by: []string{"dedupe", "queue/jsonstore"}},
	{module: "github.com/mmcdole/gofeed", by: []string{"queue/collect"}, tests: true},
	{module: "github.com/rivo/uniseg", by: []string{"poster"}},
	{module: "github.com/robfig/cron/v3", by: []string{"queue", "cmd"}},
	{module: "github.com/rogpeppe/go-internal", tests: true},
	{module: "github.com/spf13/cobra", by: []string{"cmd"}},
	{module: "github.com/stretchr/testify", tests: true},
	{module: "go.yaml.in/yaml/v4", by: []string{"config"}},
	{module: "golang.org/x/net", by: []string{"dedupe", "queue/collect"}, tests: true},
	{module: "golang.org/x/sys", by: []string{"queue/jsonstore"}},
	{module: "golang.org/x/term", by: []string{"cmd"}},
	{module: "golang.org/x/text", by: []string{"queue/collect"}},
	{module: "golang.org/x/time", by: []string{"cmd"}},
	{module: "google.golang.org/api", by: []string{"queue/firestore"}},
	{module: "google.golang.org/protobuf", by: []string{"queue/firestore"}},
	{module: "google.golang.org/grpc", by: []string{"queue/firestore"}},
}

// goFile is one Go file of the module and what it imports.
type goFile struct {
	name    string // slash path from the module's root
	imports []string
}

func (f goFile) pkg() string { return path.Dir(f.name) }

func (f goFile) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

// isContract reports whether pkg holds the contract that every implementation of
// an interface must pass. The program itself never imports one.
func isContract(pkg string) bool {
	return strings.HasSuffix(path.Base(pkg), "test")
}

// violations lists every import that breaks a rule, one line each.
func violations(files []goFile) []string {
	var found []string
	for _, f := range files {
		for _, imported := range f.imports {
			if why := forbidden(f, imported); why != "" {
				found = append(found, fmt.Sprintf("%s imports %s: %s", f.name, imported, why))
			}
		}
	}
	return found
}

// forbidden says why f may not import what it does, or nothing.
func forbidden(f goFile, imported string) string {
	if own, ok := strings.CutPrefix(imported, module+"/"); ok {
		return forbiddenOwn(f, own)
	}
	if root, _, _ := strings.Cut(imported, "/"); !strings.Contains(root, ".") {
		return "" // the standard library
	}
	return forbiddenThirdParty(f, imported)
}

func forbiddenOwn(f goFile, imported string) string {
	if isContract(imported) {
		if f.isTest() {
			return ""
		}
		return "contract packages are for test files"
	}
	if f.isTest() && imported == f.pkg() {
		return ""
	}
	for _, rule := range importRules {
		if matches(rule.pkg, f.pkg()) {
			if anyMatches(rule.may, imported) || f.isTest() && anyMatches(rule.tests, imported) {
				return ""
			}
			return fmt.Sprintf("%s may import %s", f.pkg(), orNone(rule.may))
		}
	}
	return "no rule names this package; add one"
}

func forbiddenThirdParty(f goFile, imported string) string {
	for _, third := range thirdParties {
		if imported != third.module && !strings.HasPrefix(imported, third.module+"/") {
			continue
		}
		if anyMatches(third.by, f.pkg()) || third.tests && (f.isTest() || isContract(f.pkg())) {
			return ""
		}
		if third.tests {
			return "it is for tests"
		}
		return "it belongs to " + orNone(third.by)
	}
	return "no row says who may import it; add one, and a line in docs/dependencies.md"
}

func matches(pattern, pkg string) bool {
	ok, err := path.Match(pattern, pkg)
	return err == nil && ok
}

func anyMatches(patterns []string, pkg string) bool {
	for _, pattern := range patterns {
		if matches(pattern, pkg) {
			return true
		}
	}
	return false
}

func orNone(packages []string) string {
	if len(packages) == 0 {
		return "none of our packages"
	}
	return strings.Join(packages, ", ")
}

func TestImportsFollowTheRules(t *testing.T) {
	t.Parallel()
	files := goFiles(t)
	require.Greater(t, len(files), 10, "the module's files were not found")
	require.Empty(t, violations(files))
}

func TestViolations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, imports string
		want          string // in the violation; empty: allowed
	}{
		"main imports cmd":                            {"main.go", "bot/cmd", ""},
		"main imports nothing else":                   {"main.go", "bot/queue", "may import cmd"},
		"cmd imports everything":                      {"cmd/wire.go", "bot/queue/jsonstore", ""},
		"nobody else imports cmd":                     {"queue/queue.go", "bot/cmd", "may import dedupe, poster"},
		"dedupe imports none of ours":                 {"dedupe/key.go", "bot/poster", "none of our packages"},
		"poster imports none of ours":                 {"poster/http.go", "bot/dedupe", "none of our packages"},
		"config imports none of ours":                 {"config/load.go", "bot/queue", "none of our packages"},
		"a platform imports poster":                   {"poster/slack/slack.go", "bot/poster", ""},
		"a platform imports no other platform":        {"poster/slack/slack.go", "bot/poster/discord", "may import poster"},
		"a platform knows no queue":                   {"poster/slack/slack.go", "bot/queue", "may import poster"},
		"the list of platforms imports all":           {"poster/platforms/platforms.go", "bot/poster/slack", ""},
		"the list of platforms knows no queue":        {"poster/platforms/platforms.go", "bot/queue", "may import"},
		"queue imports dedupe":                        {"queue/entry.go", "bot/dedupe", ""},
		"queue imports no store":                      {"queue/queue.go", "bot/queue/jsonstore", "may import dedupe, poster"},
		"queue tests its rules on the local store":    {"queue/queue_test.go", "bot/queue/jsonstore", ""},
		"queue imports no platform":                   {"queue/process.go", "bot/poster/slack", "may import dedupe, poster"},
		"collect imports queue":                       {"queue/collect/feed.go", "bot/queue", ""},
		"collect has poster's types by way of queue":  {"queue/collect/feed.go", "bot/poster", "may import queue, dedupe"},
		"a store imports poster":                      {"queue/jsonstore/store.go", "bot/poster", ""},
		"a store imports no other store":              {"queue/firestore/migrate.go", "bot/queue/jsonstore", "may import queue, dedupe, poster"},
		"a test imports the package it tests":         {"queue/queue_test.go", "bot/queue", ""},
		"a test imports a contract":                   {"queue/jsonstore/store_test.go", "bot/queue/storetest", ""},
		"the program imports no contract":             {"cmd/demo.go", "bot/queue/storetest", "for test files"},
		"a package without a rule needs one":          {"util/strings.go", "bot/queue", "no rule names this package"},
		"a package deeper than the rules needs one":   {"queue/jsonstore/scan/scan.go", "bot/queue", "no rule names this package"},
		"the standard library is everybody's":         {"dedupe/key.go", "net/http", ""},
		"cobra belongs to cmd":                        {"config/load.go", "github.com/spf13/cobra", "belongs to cmd"},
		"a module's packages belong with it":          {"queue/entry.go", "github.com/go-json-experiment/json/jsontext", ""},
		"a module is not its name's beginning":        {"cmd/root.go", "github.com/spf13/cobra-cli", "no row"},
		"testify is for tests":                        {"cmd/root.go", "github.com/stretchr/testify/require", "for tests"},
		"testify is for every test":                   {"dedupe/key_test.go", "github.com/stretchr/testify/require", ""},
		"testify is for contracts":                    {"queue/storetest/storetest.go", "github.com/stretchr/testify/require", ""},
		"a test may not borrow another's third party": {"queue/queue_test.go", "github.com/spf13/cobra", "belongs to cmd"},
		"a module nobody spoke for is not to be had":  {"cmd/root.go", "github.com/sirupsen/logrus", "no row"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := violations([]goFile{{name: c.file, imports: []string{c.imports}}})
			if c.want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Contains(t, got[0], c.file+" imports "+c.imports+": ")
			require.Contains(t, got[0], c.want)
		})
	}
}

func TestViolationsFindsEveryOne(t *testing.T) {
	t.Parallel()
	require.Len(t, violations([]goFile{
		{name: "dedupe/key.go", imports: []string{"bot/queue", "fmt", "bot/poster"}},
		{name: "poster/http.go", imports: []string{"bot/queue"}},
	}), 3)
}
