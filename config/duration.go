package config

import (
	"errors"
	"math"
	"strings"
	"time"
)

const durationUnits = "write for example 30m, 12h, 7d or 2w"

// ParseDuration reads a duration in Go's form, with d for days of 24 hours and w
// for weeks of 7 days beside Go's units: 90s, 1h30m, 7d, 1w2d. Zero needs no unit.
// A negative duration is an error.
func ParseDuration(s string) (time.Duration, error) {
	switch {
	case s == "0":
		return 0, nil
	case s == "":
		return 0, errors.New("a duration is missing; " + durationUnits)
	case s[0] == '-':
		return 0, errors.New("a duration cannot be negative")
	case strings.Trim(s, "0123456789.") == "":
		return 0, errors.New("a duration needs a unit; write for example " + s + "m for minutes")
	}
	var total time.Duration
	for rest := s; rest != ""; {
		part, unit, after := cutPart(rest)
		d, ok := partDuration(part, unit)
		if !ok || d > math.MaxInt64-total {
			return 0, errors.New("not a duration; " + durationUnits)
		}
		total, rest = total+d, after
	}
	return total, nil
}

// cutPart cuts the first number and its unit off s.
func cutPart(s string) (number, unit, rest string) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789."))
	letters := strings.IndexAny(s[digits:], "0123456789.")
	if letters < 0 {
		return s[:digits], s[digits:], ""
	}
	return s[:digits], s[digits : digits+letters], s[digits+letters:]
}

func partDuration(number, unit string) (time.Duration, bool) {
	times := int64(1)
	switch unit {
	case "d":
		times, unit = 24, "h"
	case "w":
		times, unit = 7*24, "h"
	}
	if number == "" {
		return 0, false
	}
	d, err := time.ParseDuration(number + unit)
	if err != nil || int64(d) > math.MaxInt64/times {
		return 0, false
	}
	return time.Duration(int64(d) * times), true
}
