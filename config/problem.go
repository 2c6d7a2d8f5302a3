package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong in the config file, and where.
type Problem struct { //nolint:errname // it is one of several, and an error only when alone
	// File is the config file, as it was named to Load. Empty if the problem is of
	// no file.
	File string
	// Line and Column count from 1, columns in characters. Zero: the file as a
	// whole.
	Line, Column int
	// Text says what is wrong and what to do. It holds no secret, nor anything that
	// came from the environment.
	Text string
}

// Error returns the problem as file:line:column: text.
func (p Problem) Error() string {
	switch {
	case p.File == "":
		return p.Text
	case p.Line == 0:
		return p.File + ": " + p.Text
	default:
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
	}
}

// Problems are all that is wrong in a config file, in the order of the file, each
// once.
type Problems []Problem //nolint:errname // the plural of Problem

// Error returns the problems, one per line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Join gathers the problems in the chains of errs into one Problems, sorted and
// each once, so that what several parts found can be told at once. Errors that
// are no problems are joined behind it. It returns nil if there is none at all.
func Join(errs ...error) error {
	var problems Problems
	var others []error
	for _, err := range errs {
		problems, others = gather(err, problems, others)
	}
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column), strings.Compare(a.Text, b.Text))
	})
	problems = slices.Compact(problems)
	if len(problems) == 0 {
		return errors.Join(others...)
	}
	if len(others) == 0 {
		return problems
	}
	return errors.Join(append([]error{problems}, others...)...)
}

// gather adds what err holds to problems and to others.
func gather(err error, problems Problems, others []error) (Problems, []error) {
	if err == nil {
		return problems, others
	}
	switch e := err.(type) { //nolint:errorlint // this is the walk along the chain
	case Problem:
		return append(problems, e), others
	case Problems:
		return append(problems, e...), others
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			problems, others = gather(inner, problems, others)
		}
		return problems, others
	}
	if inner := errors.Unwrap(err); inner != nil {
		if found, rest := gather(inner, nil, nil); len(found) > 0 {
			return append(problems, found...), append(others, rest...)
		}
	}
	return problems, append(others, err)
}

// place is a place in the config file.
type place struct {
	file         string
	line, column int
}

// problem returns a problem at the place. The format may hold %w, of which only
// the text is kept.
func (w place) problem(format string, args ...any) Problem {
	return Problem{File: w.file, Line: w.line, Column: w.column, Text: fmt.Errorf(format, args...).Error()}
}

// Spot is where something stands in the config file, for those who find fault
// with it later.
type Spot struct {
	begin  place
	values map[string]*node
}

// Errorf returns a Problem at the value of the named key, or where the whole
// begins if it has no such key. A value that came from the environment shows as
// it is written in the file.
func (s Spot) Errorf(key, format string, args ...any) error {
	n, ok := s.values[key]
	if !ok {
		return s.begin.problem(format, args...)
	}
	problem := n.problem(format, args...)
	if n.expanded && n.text != "" {
		problem.Text = strings.ReplaceAll(problem.Text, n.text, n.raw)
	}
	return problem
}
