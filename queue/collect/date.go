package collect

import (
	"strings"
	"time"
)

// timeOfDay finds the clock time in a date.
var timeOfDay = pattern(`\d{1,2}:\d{1,2}(:\d{1,2}([.,]\d+)?)?\s*([aApP]\.?[mM]\.?)?`)

// offsetAtEnd finds a numeric zone in a date without clock time.
var offsetAtEnd = pattern(`\s[+-]\d{4}$`)

// abbreviation finds a zone that is given by its letters alone.
var abbreviation = pattern(`^\(?([A-Za-z]{2,5})\)?$`)

// knownZones are the abbreviations that the feed parser resolves by itself, the
// same on every machine: RFC 822 §5.1 and Europe's.
const knownZones = " UT GMT UTC EST EDT CST CDT MST MDT PST PDT WET WEST BST CET CEST EET EEST "

// dateIn returns a date of a feed in UTC and whole milliseconds. text is as the
// feed has it and parsed what the parser made of it. A date without a zone is read
// in zone, as is one whose zone is an abbreviation that nobody knows; for those
// the parser's answer is the host machine's opinion. Dates that were not read, and
// those that stand for none (the year 1, the Unix epoch, the zero dates of
// databases and spreadsheets), are zero.
func dateIn(text string, parsed *time.Time, zone *time.Location) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	text = strings.TrimSpace(text)
	if parsed != nil && isComplete(text) {
		return orUndated(*parsed)
	}
	if t, ok := readDate(text, zone); ok {
		return orUndated(t)
	}
	if parsed == nil {
		return time.Time{}
	}
	t := *parsed
	switch given, wall := splitZone(text); {
	case given == "":
		t = inZone(t.UTC(), zone)
	case abbreviation().MatchString(given):
		name := strings.ToUpper(strings.Trim(given, "()"))
		if strings.Contains(knownZones, " "+name+" ") {
			break
		}
		if name == "JST" {
			zone = time.FixedZone("JST", 9*60*60)
		}
		if read, ok := readWall(wall); ok {
			t = inZone(read, zone)
		}
	}
	return orUndated(t)
}

// isComplete reports whether a date that was read has a time of day and a numeric
// zone that there can be, as in RFC 3339.
func isComplete(text string) bool {
	const clock = len("2006-01-02T15:04:05")
	if len(text) <= clock || text[4] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return false
	}
	zone := strings.TrimLeft(text[clock:], ".0123456789")
	return zone == "Z" || len(zone) == len("+09:00") && (zone[0] == '+' || zone[0] == '-') && zone[3] == ':' &&
		number(zone[1:3])*3600 < farthestZone
}

// usualDate reads the date of RSS as nearly all feeds write it (RFC 822 with four
// digits of the year, and a zone that is numeric or GMT), and no other.
func usualDate(text string) (time.Time, bool) {
	const shortest = len("Mon, 2 Jan 2006 15:04:05 GMT")
	if len(text) < shortest || text[3] != ',' {
		return time.Time{}, false
	}
	layout := time.RFC1123Z
	if strings.HasSuffix(text, " GMT") {
		layout = time.RFC1123
	}
	t, err := time.Parse(layout, text)
	_, offset := t.Zone()
	return t, err == nil && t.Year() > 0 && t.Nanosecond() == 0 && offset%60 == 0 && max(offset, -offset) < farthestZone
}

// splitZone returns the part of a date that names its zone, empty if there is
// none, and what stands before it.
func splitZone(text string) (given, wall string) {
	clock := timeOfDay().FindStringIndex(text)
	if clock == nil {
		return strings.TrimSpace(offsetAtEnd().FindString(text)), text
	}
	after := strings.TrimSpace(text[clock[1]:])
	if after == "00" || strings.ContainsAny(after, "+-") || strings.ContainsFunc(after, isLetter) {
		return after, strings.TrimSpace(text[:clock[1]])
	}
	return "", text
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// inZone reads the wall clock of t in another zone.
func inZone(t time.Time, zone *time.Location) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
}

// readWall reads a date and time without zone. The day of the week is not needed.
func readWall(text string) (time.Time, bool) {
	if day, rest, found := strings.Cut(text, ","); found && strings.IndexFunc(day, isDigit) < 0 {
		text = rest
	}
	text = strings.TrimSpace(text)
	for _, layout := range [...]string{
		"2 Jan 2006 15:04:05", "2 January 2006 15:04:05", "2 Jan 2006 15:04", "2 Jan 06 15:04:05", "2 Jan 06 15:04",
		"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// orUndated returns the time, or zero if it only stands for none.
func orUndated(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Millisecond)
	fromEpoch := t.Sub(time.Unix(0, 0))
	if t.Year() <= 1900 || t.Year() > 9999 || fromEpoch.Abs() < 36*time.Hour {
		return time.Time{}
	}
	return t
}
