package queue

import "time"

// Quiet is the part of every day in which nothing is sent. The zero value: none.
type Quiet struct {
	// From and To are wall-clock times since midnight. To is the first moment that
	// is not quiet; if it is before From, the night is in between.
	From, To time.Duration
	// Zone is where the clock hangs.
	Zone *time.Location
}

// Until returns the end of the quiet time that t is in, or t if it is in none.
func (q Quiet) Until(t time.Time) time.Time {
	if !q.has(t) {
		return t
	}
	local := t.In(q.Zone)
	y, m, d := local.Date()
	if q.From > q.To && sinceMidnight(local) >= q.From {
		d++
	}
	end := time.Date(y, m, d, int(q.To/time.Hour), int(q.To/time.Minute)%60, 0, 0, q.Zone)
	// Where the clocks change, the end may be a little later than it seems.
	for !end.After(t) || q.has(end) {
		end = end.Add(time.Minute)
	}
	return end.UTC()
}

// none reports whether there is no quiet time, wherever the clock hangs.
func (q Quiet) none() bool { return q.From == q.To }

// has reports whether t is quiet.
func (q Quiet) has(t time.Time) bool {
	if q.none() {
		return false
	}
	at := sinceMidnight(t.In(q.Zone))
	if q.From < q.To {
		return q.From <= at && at < q.To
	}
	return at >= q.From || at < q.To
}

// sinceMidnight is what the clock shows at t.
func sinceMidnight(t time.Time) time.Duration {
	h, m, s := t.Clock()
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second + time.Duration(t.Nanosecond())
}
