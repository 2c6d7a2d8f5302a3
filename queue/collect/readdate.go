package collect

import (
	"strconv"
	"strings"
	"time"
)

// The spellings of a day that name its year. A day without a year is no date.
var (
	yearFirst   = pattern(`(?:^|\D)(\d{4})\s*[-/.年년]\s*(\d{1,2})\s*[-/.月월]\s*(\d{1,2})[日일.]?`)
	yearAndName = pattern(`(?:^|\D)(\d{4})[-.\s]+([\p{L}\p{M}]{3,14})\.?[-\s]+(\d{1,2})\.?`)
	dayFirst    = pattern(`(?:^|[^\d:])(\d{1,2})(?:st|nd|rd|th|º|er|\.)?[\s-]*(?:de\s+)?([\p{L}\p{M}]{3,14})\.?,?[\s-]*(?:de\s+)?(\d{4}|\d{2})(?:[^\d:]|$)`)
	monthFirst  = pattern(`([\p{L}\p{M}]{3,14})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?:\D|$)`)
	yearLast    = pattern(`([\p{L}\p{M}]{3,14})\.?\s+(\d{1,2})\s+(\d{1,2}:\d{2}.*?)\s(\d{4})\s*$`)
	monthSign   = pattern(`(?:^|[^\d:])(\d{1,2})\s+(\d{1,2})\s?[月월],?\s+(\d{4})(?:\D|$)`)
	numbersOnly = pattern(`(?:^|[^\d:])(\d{1,2})([-/.])(\d{1,2})[-/.](\d{4})(?:\D|$)`)

	clock       = pattern(`(\d{1,2})\s*[:時시hH]\s*(\d{1,2})(?:\s*[:分분]\s*(\d{1,2})(?:[.,](\d{1,9}))?)?[분秒초分]?\s*(?:([aApP])\.?[mM]\b)?`)
	dottedClock = pattern(`(?:^|\D)(\d{1,2})\.(\d{2})(?:\.(\d{2}))?()()(?:\D|$)`)
	hourOnly    = pattern(`(?:^|[^\d:.+-])(\d{1,2})(?:\s*[時시点點]|\b)()()()()`)
	offset      = pattern(`(?i)(?:^|\s|GMT|UTC|UT|Z)\s*([+-])(\d{1,2}):?(\d{2})?(?:\D|$)`)
	zoneName    = pattern(`\b[A-Z][A-Za-z]+(?:/[A-Za-z0-9_+-]+){1,2}\b`)
	zoneLetter  = pattern(`\b([A-Z]{1,5})\b`)
)

// zoneHours are the zones that RFC 822 §5.1 defines, and those that have one
// meaning in feeds.
var zoneHours = map[string]float64{
	"Z": 0, "UT": 0, "UTC": 0, "GMT": 0, "WET": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6,
	"PST": -8, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10, "NST": -3.5, "NDT": -2.5,
	"BST": 1, "WEST": 1, "CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2, "EET": 2, "SAST": 2, "EEST": 3, "MSK": 3,
	"JST": 9, "KST": 9, "HKT": 8, "SGT": 8, "AWST": 8, "ACST": 9.5, "ACDT": 10.5, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}

// zonePlaces are the abbreviations that hold in summer and in winter.
var zonePlaces = map[string]string{
	"ET": "America/New_York", "CT": "America/Chicago", "MT": "America/Denver", "PT": "America/Los_Angeles",
}

// farthestZone is more than the offset of any zone, in seconds.
const farthestZone = 15 * 3600

// readDate reads a date in the ways in which feeds have them: with months in many
// languages, in Japanese, Korean and Chinese, with names of zones, with the year at
// either end, as the seconds of Unix, or with blanks where there should be none. The
// day of the week is not looked at. A date without zone is read in zone.
func readDate(text string, zone *time.Location) (time.Time, bool) {
	if len(text) > 200 {
		return time.Time{}, false
	}
	text = usualDigits(text)
	if t, ok := countedDate(text, zone); ok {
		return t, true
	}
	year, month, day, around, ok := readDay(text)
	if !ok {
		return time.Time{}, false
	}
	hour, minute, second, nanos, rest := readClock(around)
	if hour > 24 || minute > 59 || second > 60 {
		return time.Time{}, false
	}
	return time.Date(year, month, day, hour, minute, second, nanos, zoneOf(rest, zone)), true
}

// readClock finds the time of day in what stands around the day, and returns what
// follows it. Without one it is midnight.
func readClock(text string) (hour, minute, second, nanos int, rest string) {
	at := clock().FindStringSubmatchIndex(text)
	if at == nil {
		at = dottedClock().FindStringSubmatchIndex(text)
	}
	if at == nil {
		at = hourOnly().FindStringSubmatchIndex(text)
	}
	if at == nil {
		return 0, 0, 0, 0, text
	}
	part := func(n int) string {
		if at[2*n] < 0 {
			return ""
		}
		return text[at[2*n]:at[2*n+1]]
	}
	hour, minute, second = number(part(1)), number(part(2)), number(part(3))
	if fraction := part(4); fraction != "" {
		nanos = number((fraction + "00000000")[:9])
	}
	return twelveHours(text, hour, strings.ToLower(part(5))), minute, second, nanos, text[at[1]:]
}

// readDay finds the day in a date, and returns what stands around it too.
func readDay(text string) (year int, month time.Month, day int, around string, ok bool) {
	// A pattern's groups are the year, the month and the day, in the order it is for.
	without := func(f []int) string { return text[:f[2]] + " " + text[f[7]:] }
	part := func(f []int, n int) string { return text[f[2*n]:f[2*n+1]] }
	if f := yearFirst().FindStringSubmatchIndex(text); f != nil {
		year, month, day = number(part(f, 1)), time.Month(number(part(f, 2))), number(part(f, 3))
		around = without(f)
	} else if f := dayFirst().FindStringSubmatchIndex(text); f != nil && monthOf(part(f, 2)) != 0 {
		year, month, day = number(part(f, 3)), monthOf(part(f, 2)), number(part(f, 1))
		if len(part(f, 3)) == 2 {
			year = century(year)
		}
		around = without(f)
	} else if f := monthFirst().FindStringSubmatchIndex(text); f != nil && monthOf(part(f, 1)) != 0 {
		year, month, day = number(part(f, 3)), monthOf(part(f, 1)), number(part(f, 2))
		around = without(f)
	} else if f := yearAndName().FindStringSubmatchIndex(text); f != nil && monthOf(part(f, 2)) != 0 {
		year, month, day = number(part(f, 1)), monthOf(part(f, 2)), number(part(f, 3))
		around = without(f)
	} else if f := yearLast().FindStringSubmatchIndex(text); f != nil && monthOf(part(f, 1)) != 0 {
		year, month, day, around = number(part(f, 4)), monthOf(part(f, 1)), number(part(f, 2)), part(f, 3)
	} else if f := monthSign().FindStringSubmatchIndex(text); f != nil {
		year, month, day = number(part(f, 3)), time.Month(number(part(f, 2))), number(part(f, 1))
		around = without(f)
	} else if f := numbersOnly().FindStringSubmatchIndex(text); f != nil {
		around = text[:f[2]] + " " + text[f[9]:]
		year, day = number(part(f, 4)), number(part(f, 1))
		month = time.Month(number(part(f, 3)))
		if month > 12 || part(f, 2) == "/" && halfDay().MatchString(around) {
			// As in the United States, which also have clocks of twelve hours.
			day, month = int(month), time.Month(day)
		}
	}
	return year, month, day, around, isDay(year, month, day)
}

// halfDay finds what tells the halves of a day apart in English.
var halfDay = pattern(`(?i)\d\s*[ap]\.?m\b`)

// isDay reports whether there is such a day.
func isDay(year int, month time.Month, day int) bool {
	valid := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	return month >= 1 && month <= 12 && valid.Month() == month && valid.Day() == day
}

// century is the year that two digits mean, as POSIX strptime has it.
func century(year int) int {
	if year < 69 {
		return 2000 + year
	}
	return 1900 + year
}

func twelveHours(text string, hour int, half string) int {
	holds := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case hour < 12 && (half == "p" || holds("午後", "下午", "오후")):
		return hour + 12
	case hour == 12 && (half == "a" || holds("午前", "上午", "오전")):
		return 0
	}
	return hour
}

// zoneOf returns the zone that stands behind a clock time, or the one that holds
// where none does.
func zoneOf(text string, otherwise *time.Location) *time.Location {
	if name := zoneName().FindString(text); name != "" {
		if place, err := time.LoadLocation(name); err == nil {
			return place
		}
	}
	if f := offset().FindStringSubmatch(text); f != nil {
		seconds := number(f[2])*3600 + number(f[3])*60
		if seconds >= farthestZone {
			return otherwise
		}
		if f[1] == "-" {
			seconds = -seconds
		}
		return time.FixedZone("", seconds)
	}
	if only := strings.Trim(text, " \t()"); len(only) <= 5 {
		text = strings.ToUpper(text)
	}
	for _, name := range zoneLetter().FindAllString(text, -1) {
		if hours, ok := zoneHours[name]; ok {
			return time.FixedZone(name, int(hours*3600))
		}
		if place, err := time.LoadLocation(zonePlaces[name]); err == nil && zonePlaces[name] != "" {
			return place
		}
	}
	return otherwise
}

// number reads digits that a pattern found. Nothing is zero.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}
