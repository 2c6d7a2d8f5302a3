package cmd

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// progress shows on a terminal, and only there, how far a longer step is. The nil
// progress shows nothing.
type progress struct {
	w     io.Writer
	what  string
	n, of int
}

// clearLine returns to the start of the line and clears it (ECMA-48 EL).
const clearLine = "\r\x1b[K"

// progress returns one that counts to of, or without end if of is 0. It is nil
// where nobody watches.
func (a *app) progress(what string, of int) *progress {
	file, ok := a.env.Stderr.(*os.File)
	if !ok || a.quiet || !term.IsTerminal(int(file.Fd())) || a.env.Getenv("TERM") == "dumb" {
		return nil
	}
	return &progress{w: file, what: what, of: of}
}

// besideProgress takes the line of progress away before something is printed.
type besideProgress struct {
	bar *progress
	w   io.Writer
}

func (b besideProgress) Write(p []byte) (int, error) {
	b.bar.done()
	return b.w.Write(p)
}

// step tells that one more is done.
func (p *progress) step(name string) {
	if p == nil {
		return
	}
	p.n++
	count := fmt.Sprint(p.n)
	if p.of > 0 {
		count += fmt.Sprintf("/%d", p.of)
	}
	fmt.Fprintf(p.w, "%s%s %s  %s", clearLine, p.what, count, clean([]byte(oneLine(name, 40))))
}

// done takes the line away.
func (p *progress) done() {
	if p != nil {
		fmt.Fprint(p.w, clearLine)
	}
}

// advance tells that n more are done.
func (p *progress) advance(n int) {
	if p == nil {
		return
	}
	p.n += n - 1
	p.step("")
}
