package cmd

import "runtime/debug"

// How much garbage there may be before it is collected, in percent of what is in use.
const (
	// seldom is for most runs. They are short, and hold little of what they make: to
	// collect garbage as often as Go does by itself costs them more time than memory.
	seldom = 400
	// often is for reading sources and for sending, which make much that is of no use at
	// once.
	often = 150
)

// collectGarbage has garbage collected seldom or often, unless GOGC in the environment
// says how.
func (a *app) collectGarbage(percent int) {
	if a.env.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
