package collect

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// months are the beginnings of the months' names in the languages that feeds are
// written in, by which they are told apart. Longer ones are tried first.
var months = map[string]time.Month{
	"jan": 1, "ene": 1, "gen": 1, "янв": 1, "sty": 1,
	"feb": 2, "fév": 2, "fev": 2, "фев": 2, "lut": 2,
	"mar": 3, "mär": 3, "mrt": 3, "mae": 3, "maa": 3, "мар": 3,
	"apr": 4, "avr": 4, "abr": 4, "апр": 4, "kwi": 4,
	"may": 5, "mai": 5, "mag": 5, "mei": 5, "мая": 5, "май": 5, "maj": 5,
	"jun": 6, "juin": 6, "giu": 6, "июн": 6, "cze": 6,
	"jul": 7, "juil": 7, "lug": 7, "июл": 7, "lip": 7,
	"aug": 8, "aoû": 8, "aou": 8, "ago": 8, "авг": 8, "sie": 8,
	"sep": 9, "set": 9, "сен": 9, "wrz": 9,
	"oct": 10, "okt": 10, "out": 10, "ott": 10, "окт": 10, "paź": 10,
	"nov": 11, "ноя": 11, "lis": 11,
	"dec": 12, "déc": 12, "dez": 12, "dic": 12, "дек": 12, "gru": 12,
}

// monthOf returns the month of a name in any of the languages. Zero: it is none.
func monthOf(name string) time.Month {
	name = strings.ToLower(name)
	for _, length := range []int{4, 3} {
		if utf8.RuneCountInString(name) >= length {
			if m := months[string([]rune(name)[:length])]; m != 0 {
				return m
			}
		}
	}
	return 0
}

// The spellings of a day that name its year. A day without a year is no date.
var (
	yearFirst  = pattern(`(?:^|\D)(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})日?`)
	dayFirst   = pattern(`(?:^|[^\d:])(\d{1,2})(?:st|nd|rd|th|\.)?[\s-]*(?:de\s+)?(\p{L}{3,12})\.?,?[\s-]*(?:de\s+)?(\d{4}|\d{2})(?:[^\d:]|$)`)
	monthFirst = pattern(`(\p{L}{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?:\D|$)`)
	clock      = pattern(`(\d{1,2})\s*[:時]\s*(\d{1,2})(?:\s*[:分]\s*(\d{1,2})(?:[.,](\d{1,9}))?)?[分秒]?\s*(?:([aApP])\.?[mM]\b)?`)
	offset     = pattern(`(?i)(?:^|\s|GMT|UTC|UT|Z)\s*([+-])(\d{1,2}):?(\d{2})?(?:\D|$)`)
	zoneName   = pattern(`\b[A-Z][A-Za-z]+(?:/[A-Za-z0-9_+-]+){1,2}\b`)
	zoneLetter = pattern(`\b([A-Z]{1,5})\b`)
)

// zoneHours are the zones that RFC 822 §5.1 defines, and those that have one
// meaning in feeds.
var zoneHours = map[string]float64{
	"Z": 0, "UT": 0, "UTC": 0, "GMT": 0, "WET": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6,
	"PST": -8, "PDT": -7, "BST": 1, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9, "KST": 9,
	"AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13, "HKT": 8, "SGT": 8,
}

// readDate reads a date that the feed's own parser could not: with months in other
// languages, in Japanese, with names of zones, or with blanks where there should be
// none. The day of the week is not looked at. A date without zone is read in zone.
func readDate(text string, zone *time.Location) (time.Time, bool) {
	if len(text) > 200 {
		return time.Time{}, false
	}
	year, month, day, ok := readDay(text)
	if !ok {
		return time.Time{}, false
	}
	var hour, minute, second, nanos int
	rest := ""
	if at := clock().FindStringSubmatchIndex(text); at != nil {
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
		hour = twelveHours(text, hour, strings.ToLower(part(5)))
		rest = text[at[1]:]
	}
	if hour > 24 || minute > 59 || second > 60 {
		return time.Time{}, false
	}
	t := time.Date(year, month, day, hour, minute, second, nanos, zoneOf(rest, zone))
	return t, true
}

// readDay finds the day in a date.
func readDay(text string) (year int, month time.Month, day int, ok bool) {
	if f := yearFirst().FindStringSubmatch(text); f != nil {
		year, month, day = number(f[1]), time.Month(number(f[2])), number(f[3])
	} else if f := dayFirst().FindStringSubmatch(text); f != nil && monthOf(f[2]) != 0 {
		year, month, day = number(f[3]), monthOf(f[2]), number(f[1])
		if len(f[3]) == 2 {
			year = century(year)
		}
	} else if f := monthFirst().FindStringSubmatch(text); f != nil {
		year, month, day = number(f[3]), monthOf(f[1]), number(f[2])
	}
	valid := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	return year, month, day, month >= 1 && valid.Month() == month && valid.Day() == day
}

// century is the year that two digits mean, as POSIX strptime has it.
func century(year int) int {
	if year < 69 {
		return 2000 + year
	}
	return 1900 + year
}

func twelveHours(text string, hour int, half string) int {
	switch {
	case half == "p" && hour < 12, strings.Contains(text, "午後") && hour < 12:
		return hour + 12
	case half == "a" && hour == 12, strings.Contains(text, "午前") && hour == 12:
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
		if f[1] == "-" {
			seconds = -seconds
		}
		return time.FixedZone("", seconds)
	}
	for _, name := range zoneLetter().FindAllString(text, -1) {
		if hours, ok := zoneHours[name]; ok {
			return time.FixedZone(name, int(hours*3600))
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
