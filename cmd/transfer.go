package cmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"bot/queue"

	"github.com/spf13/cobra"
)

func newExportCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print the whole ledger as JSON lines",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.reading(c.Context(), func(ctx context.Context, f *fleet) error {
				w := bufio.NewWriter(a.env.Stdout)
				for e, err := range f.queue.Store.All(ctx) {
					if err != nil {
						return err
					}
					line, err := queue.MarshalRecord(e)
					if err != nil {
						return err
					}
					fmt.Fprintf(w, "%s\n", escapeUnprintable(line)) // an error is kept until Flush
				}
				return w.Flush()
			})
		},
	}
}

func newImportCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Add the entries of an export to the ledger",
		Long:  "Add the entries of an export (- is stdin) to the ledger. What the ledger has already stays as it is, so that it may be done again.\nIf any line cannot be read, nothing is imported.",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.writing(c.Context(), func(ctx context.Context, f *fleet) error { return a.importFile(ctx, f, args[0]) })
		},
	}
}

// importChunk is how many entries are inserted at once.
const importChunk = 10_000

// maxExportLine is the length of the longest line that is read, in bytes: the journal
// takes none that is longer.
const maxExportLine = 64 << 20

func (a *app) importFile(ctx context.Context, f *fleet, name string) error {
	in := a.env.Stdin
	if name != "-" {
		file, err := os.Open(a.path(name))
		if err != nil {
			return usagef("import: %w", err)
		}
		defer file.Close()
		in = file
	}
	candidates, err := readExport(in, name)
	if err != nil {
		return err
	}
	added := 0
	for rest := candidates; len(rest) > 0; {
		n := min(importChunk, len(rest))
		known, err := f.queue.Store.Insert(ctx, rest[:n])
		if err != nil {
			return err
		}
		for _, k := range known {
			if k.New() {
				added++
			}
		}
		rest = rest[n:]
	}
	if err := f.queue.Recount(ctx, candidates); err != nil {
		return err
	}
	already := len(candidates) - added
	a.printf("imported=%d already=%d\n", added, already)
	return a.printJSON(struct {
		Command  string `json:"command"`
		Imported int    `json:"imported"`
		Already  int    `json:"already"`
	}{"import", added, already})
}

// readExport reads an export whole, so that a bad line is found before anything
// is changed.
func readExport(r io.Reader, name string) ([]queue.Candidate, error) {
	var candidates []queue.Candidate
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxExportLine)
	n := 1
	for ; lines.Scan(); n++ {
		value := bytes.TrimSpace(lines.Bytes())
		if len(value) == 0 {
			continue
		}
		e, err := queue.ParseExported(bytes.Clone(value))
		if err != nil {
			return nil, fmt.Errorf("import %s:%d: %w; nothing was imported", name, n, err)
		}
		candidates = append(candidates, queue.Candidate{Entry: &e})
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("import %s:%d: the line is longer than 64 MiB; nothing was imported", name, n)
	case err != nil:
		return nil, fmt.Errorf("import %s: %w", name, err)
	}
	return candidates, nil
}
