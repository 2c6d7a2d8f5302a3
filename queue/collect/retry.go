package collect

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// ownWait is how long a server is left alone that says it is asked too often and
	// not how long to wait.
	ownWait = 15 * time.Minute
	// longestWait bounds what a server may ask for.
	longestWait = 24 * time.Hour
)

// retryAfter returns when a server may be asked again, from its Retry-After header:
// seconds or a date (RFC 9110 §10.2.3). It is never before now.
func retryAfter(header string, now time.Time) time.Time {
	header = strings.TrimSpace(header)
	wait := ownWait
	if seconds, err := strconv.ParseUint(header, 10, 63); err == nil {
		wait = time.Duration(min(seconds, uint64(longestWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		wait = at.Sub(now)
	}
	return now.Add(min(max(wait, 0), longestWait))
}
