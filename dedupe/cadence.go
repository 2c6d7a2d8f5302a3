package dedupe

import (
	"fmt"
	"time"
)

// Period is how often a rule may announce one thing.
type Period string

// The periods.
const (
	// Once: never again.
	Once Period = "once"
	// Daily, Weekly and Monthly: once in each day, week from Monday, or month.
	Daily   Period = "daily"
	Weekly  Period = "weekly"
	Monthly Period = "monthly"
	// Every: the first occurrence, and then every Nth new one.
	Every Period = "every"
)

// Cadence says how often a rule may announce one thing. The zero value is once.
type Cadence struct {
	// Period is how often. Empty: once.
	Period Period
	// N is that of every Nth. Only with Every.
	N int
}

// Timed reports whether the cadence goes by the calendar.
func (c Cadence) Timed() bool {
	return c.Period == Daily || c.Period == Weekly || c.Period == Monthly
}

// Counts reports whether the cadence counts occurrences.
func (c Cadence) Counts() bool { return c.Period == Every }

// Bucket returns the part of the key that stands for the period that t is in, as
// the calendar has it in zone: nothing for once, "daily 2026-08-03", "weekly " and
// the Monday, "monthly " and the first. It is empty for Every, which has Nth.
func (c Cadence) Bucket(t time.Time, zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	y, m, d := t.In(zone).Date()
	day := time.Date(y, m, d, 0, 0, 0, 0, time.UTC) // a date, wherever it is
	switch c.Period {
	case Daily:
	case Weekly:
		day = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case Monthly:
		day = day.AddDate(0, 0, 1-d)
	default:
		return ""
	}
	return string(c.Period) + " " + day.Format(time.DateOnly)
}

// Nth returns the part of the key that stands for the occurrence with this
// ordinal, counted from 1, and whether it is one of those that are announced: the
// 1st, the N+1st, ….
func (c Cadence) Nth(ordinal int) (bucket string, announced bool) {
	return fmt.Sprintf("every %d", ordinal), (ordinal-1)%max(c.N, 1) == 0
}
