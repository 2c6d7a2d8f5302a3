// Package exec announces by running a program: the platform for everything that
// has no package of its own.
package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"bot/poster"
)

const (
	// patience is how long the program may take.
	patience = 50 * time.Second
	// maxOutput is how much is kept of what it writes, in bytes.
	maxOutput = 64 << 10
)

// What the program's exit code means, as in sysexits.h. Every other code but 0, and
// an end by a signal, leaves open what became of the announcement.
const (
	exitData   = 65 // this announcement will never be taken
	exitAbsent = 69 // the service is not there
	exitTemp   = 75 // certainly not announced; try again
	exitDenied = 77 // not allowed
	exitConfig = 78 // settings are wrong
)

// Driver makes posters that run a program.
func Driver() poster.Driver { return poster.Driver{Name: "exec", New: open} }

type settings struct {
	Command    []string `yaml:"command"`
	Idempotent bool     `yaml:"idempotent"`
	// Env is what its environment holds besides what every program needs.
	Env map[string]poster.Secret `yaml:"env"`
	// Redact are what of its arguments and output must not be seen.
	Redact []poster.Secret `yaml:"redact"`
}

// program is one program with its arguments.
type program struct {
	client      *poster.Client
	destination string
	set         settings
	// env is its whole environment, as NAME=value.
	env []poster.Secret
}

func open(s poster.Settings, o poster.Options) (poster.Poster, error) {
	var set settings
	if err := s.Decode(&set); err != nil {
		return nil, err
	}
	if len(set.Command) == 0 || strings.TrimSpace(set.Command[0]) == "" {
		return nil, s.Errorf("command", "command is required: a program and its arguments, as a list; no shell is used")
	}
	env, err := environment(s, set.Env, o.Getenv)
	if err != nil {
		return nil, err
	}
	hidden := set.Redact
	for _, v := range set.Env {
		hidden = append(hidden, v)
	}
	return &program{poster.NewClient(o, hidden...), o.Destination, set, env}, nil
}

func (p *program) Traits() poster.Traits {
	t := poster.Traits{Identity: poster.NewSecret("exec:" + p.destination)}
	if p.set.Idempotent {
		t.Idempotent = 24 * time.Hour
	}
	return t
}

func (p *program) Render(post poster.Post) (poster.Message, error) {
	body, err := poster.JSON(poster.NewPayload(post))
	return poster.Message{ID: post.ID, Text: post.Text, Body: body}, err
}

// Post runs the program with the message on its standard input. It may write
// {"id": …, "url": …} of the post, and says by its exit code how it went.
func (p *program) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	if ctx.Err() != nil {
		return poster.Receipt{}, p.fail(poster.Later, "not run: "+context.Cause(ctx).Error(), "")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out, log output
	c := exec.CommandContext(ctx, p.set.Command[0], p.set.Command[1:]...) //nolint:gosec // The operator's own command.
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(m.Body), &out, &log
	c.Env = make([]string, 0, len(p.env))
	for _, v := range p.env {
		c.Env = append(c.Env, v.Reveal())
	}
	// A grandchild that holds the output open must not hold up the run.
	c.WaitDelay = time.Second
	if err := c.Start(); err != nil {
		return poster.Receipt{}, p.fail(poster.RejectedDestination, "the program cannot be run: "+err.Error()+"; check command", "")
	}
	err := c.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return poster.Receipt{}, p.exited(exit.ExitCode(), log.String())
	}
	// What it left open or unread does not count once it said that all went well.
	if err != nil && (ctx.Err() != nil || c.ProcessState == nil || !c.ProcessState.Success()) {
		return poster.Receipt{}, p.fail(poster.Unknown, "the program did not end in time, so it may have announced: "+err.Error(), log.String())
	}
	var said struct{ ID, URL string }
	_ = json.Unmarshal(out.kept, &said)
	return p.client.Receipt(said.ID, said.URL), nil
}

func (p *program) exited(code int, log string) error {
	switch code {
	case exitTemp:
		return p.fail(poster.Later, "the program asks to come back later", log)
	case exitData:
		return p.fail(poster.RejectedContent, "the program does not take this announcement", log)
	case exitAbsent, exitDenied, exitConfig:
		return p.fail(poster.RejectedDestination, fmt.Sprintf("the program ended with %d; mend what it says", code), log)
	}
	return p.fail(poster.Unknown, fmt.Sprintf("the program ended with %d, so it may have announced", code), log)
}

// fail is an *Error with the end of what the program said.
func (p *program) fail(o poster.Outcome, what, log string) error {
	if lines := strings.Split(strings.TrimSpace(log), "\n"); lines[len(lines)-1] != "" {
		what += " (" + lines[len(lines)-1] + ")"
	}
	what = p.client.Redact(what)
	if runes := []rune(what); len(runes) > 600 {
		what = string(runes[:599]) + "…"
	}
	return &poster.Error{Outcome: o, Reason: what}
}

// Check looks for the program, and does not run it.
func (p *program) Check(context.Context) error {
	if _, err := exec.LookPath(p.set.Command[0]); err != nil {
		return p.fail(poster.RejectedDestination, "the program cannot be run: "+err.Error()+"; check command", "")
	}
	return nil
}

// output keeps the beginning of what is written to it.
type output struct{ kept []byte }

// Write keeps what there is room for, and takes the rest as well.
func (t *output) Write(data []byte) (int, error) {
	t.kept = append(t.kept, data[:min(len(data), maxOutput-len(t.kept))]...)
	return len(data), nil
}

// String returns what was kept.
func (t *output) String() string { return string(t.kept) }
