package cmd_test

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the module's folder, seen from this package.
const root = ".."

// topLevel is all there is in the module's folder. Hidden names that are not
// here belong to somebody's tools, and are not looked at.
var topLevel = []string{
	".ci", ".gitignore", ".golangci.yml", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md",
	"cmd", "config", "dedupe", "docs", "go.mod", "go.sum", "main.go", "poster", "queue",
}

// projectFiles yields the slash path and the text of every file that the project
// itself is made of: neither tools' own folders nor what .gitignore leaves out.
func projectFiles(t *testing.T) map[string][]byte {
	t.Helper()
	ignored := ignoredAtTop(t)
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if rel == "." {
			return nil
		}
		foreign := strings.HasPrefix(entry.Name(), ".") && !slices.Contains(topLevel, rel)
		if foreign || path.Dir(rel) == "." && ignored(rel) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(name)
		files[rel] = text
		return err
	})
	require.NoError(t, err)
	return files
}

// ignoredAtTop reads .gitignore and returns what it says of names in the module's
// folder.
func ignoredAtTop(t *testing.T) func(name string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	require.NoError(t, err)
	patterns := strings.Fields(string(text))
	return func(name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			return matches(strings.Trim(pattern, "/"), name)
		})
	}
}

// goFiles returns the module's Go files, test data left out, with their imports.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var files []goFile
	for name, text := range projectFiles(t) {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		require.NoError(t, err)
		file := goFile{name: name}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			file.imports = append(file.imports, imported)
		}
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b goFile) int { return strings.Compare(a.name, b.name) })
	return files
}

func TestTopLevelIsWhatTheArchitectureSays(t *testing.T) {
	t.Parallel()
	ignored := ignoredAtTop(t)
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	var got []string
	for _, entry := range entries {
		name := entry.Name()
		if slices.Contains(topLevel, name) || !strings.HasPrefix(name, ".") && !ignored(name) {
			got = append(got, name)
		}
	}
	require.Equal(t, topLevel, got)
}

// unwanted is what no file of the project holds, and why.
var unwanted = []struct {
	what    string
	pattern *regexp.Regexp
}{
	{"a mark of unfinished work", regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME)\b`)},
	{"a path of one machine", regexp.MustCompile(`(^|[\s"'` + "`" + `(=:,])/(work|root|Users|tmp/bash_jobs[^/\s]*)/`)},
}

// unwantedIn returns one line for each piece of text that does not belong.
func unwantedIn(name string, text []byte) []string {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	var found []string
	for i, line := range bytes.Split(text, []byte("\n")) {
		for _, u := range unwanted {
			if m := u.pattern.Find(line); m != nil {
				found = append(found, fmt.Sprintf("%s:%d: %s: %s", name, i+1, u.what, bytes.TrimSpace(m)))
			}
		}
	}
	return found
}

func TestNothingUnfinishedOrPrivateIsInTheTree(t *testing.T) {
	t.Parallel()
	for name, text := range projectFiles(t) {
		require.Empty(t, unwantedIn(name, text))
	}
}

func TestUnwantedIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"plain text":                    {"a line\nand another", 0},
		"a mark":                        {"x := 1 // TO" + "DO: mend", 1},
		"two lines with marks":          {"// TO" + "DO\n// FIX" + "ME", 2},
		"a longer word":                 {"MASTO" + "DON", 0},
		"a path at the start":           {"/wo" + "rk/main/x.go", 1},
		"a quoted path":                 {`open("/ro` + `ot/x")`, 1},
		"a part of an address":          {"https://example.jp/wo" + "rk/1", 0},
		"a file that is not text":       {"\x00 FIX" + "ME", 0},
		"a path somewhere else is fine": {"/srv/bot/state", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Len(t, unwantedIn("f", []byte(c.text)), c.want)
		})
	}
}

// link is a Markdown link's target: group 1 the path, without the fragment.
var link = regexp.MustCompile(`\]\(([^()\s#]+)(?:#[^()\s]*)?\)`)

// brokenLinks returns the links of a document to files that are not there.
func brokenLinks(name string, text []byte, exists func(name string) bool) []string {
	var broken []string
	for _, m := range link.FindAllSubmatch(text, -1) {
		target := string(m[1])
		if strings.Contains(target, ":") {
			continue // another site, or an address to write to
		}
		if !exists(path.Join(path.Dir(name), target)) {
			broken = append(broken, name+" links to "+target)
		}
	}
	return broken
}

func TestLinksBetweenDocumentsHold(t *testing.T) {
	t.Parallel()
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil
	}
	for name, text := range projectFiles(t) {
		if strings.HasSuffix(name, ".md") && !strings.Contains(name, "testdata/") {
			require.Empty(t, brokenLinks(name, text, exists))
		}
	}
}

func TestBrokenLinks(t *testing.T) {
	t.Parallel()
	exists := func(name string) bool { return name == "docs/guard.md" || name == "README.md" }
	text := []byte("[a](guard.md) [b](guard.md#moving) [c](../README.md) [d](https://example.jp/x) [e](#here) [f](gone.md) [g](../docs)")
	require.Equal(t, []string{"docs/a.md links to gone.md", "docs/a.md links to ../docs"}, brokenLinks("docs/a.md", text, exists))
}
