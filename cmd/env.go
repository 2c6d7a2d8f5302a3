package cmd

import (
	"crypto/rand"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// Env is the world that a run of the program sees. Nothing else of the outside
// comes in, so that a run can be driven by another program.
type Env struct {
	// Args are the command line without the program's name.
	Args []string
	// Stdin is read by commands that are told to.
	Stdin io.Reader
	// Stdout takes results, Stderr everything else.
	Stdout, Stderr io.Writer
	// Getenv looks up an environment variable. Empty: it is not set.
	Getenv func(string) string
	// Hostname names this machine, for the guard.
	Hostname func() (string, error)
	// Now is the clock. In-process time is its alone.
	Now func() time.Time
	// HTTP is used for every outgoing request.
	HTTP *http.Client
	// Dir is the working directory, the base of relative paths on the command line.
	Dir string
	// Token makes the tokens of claims: fresh and unguessable.
	Token func() string
}

// System returns the real world.
func System() Env {
	dir, err := os.Getwd()
	if err != nil {
		// Relative paths are then relative to wherever the process is.
		dir = "."
	}
	return Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Hostname: os.Hostname, Now: time.Now,
		HTTP: &http.Client{Transport: transport()}, Dir: dir, Token: rand.Text,
	}
}

// transport is Go's default, but that it keeps as many connections to a host as
// there are requests to one at a time; Go's keeps two. How long a connection may
// take is for those to say who make requests.
func transport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 100, MaxIdleConnsPerHost: 16,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
	}
}

// complete fills what a caller left out with the real thing, but for arguments,
// streams and the environment, which are then empty.
func (e Env) complete() Env {
	real := System()
	if e.Args == nil {
		// With none, cobra would take those of the process.
		e.Args = []string{}
	}
	if e.Stdin == nil {
		e.Stdin = strings.NewReader("")
	}
	if e.Stdout == nil {
		e.Stdout = io.Discard
	}
	if e.Stderr == nil {
		e.Stderr = io.Discard
	}
	if e.Getenv == nil {
		e.Getenv = func(string) string { return "" }
	}
	if e.Hostname == nil {
		e.Hostname = real.Hostname
	}
	if e.Now == nil {
		e.Now = real.Now
	}
	if e.HTTP == nil {
		e.HTTP = real.HTTP
	}
	if e.Dir == "" {
		e.Dir = real.Dir
	}
	if e.Token == nil {
		e.Token = real.Token
	}
	return e
}
