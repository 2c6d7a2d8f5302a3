package collect

import (
	"regexp"
	"sync"
)

// pattern returns a regular expression that is compiled when it is first used: most
// runs need few of them, and every start of the program would pay for all.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
