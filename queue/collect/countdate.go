package collect

import (
	"strconv"
	"strings"
	"time"
)

// The spellings of a date that are numbers, or count other things than months.
var (
	unixSeconds = pattern(`^@?(\d{9,10})(?:\.\d+)?$`)
	unixMillis  = pattern(`^(\d{13})$`)
	compact     = pattern(`^(\d{4})(\d{2})(\d{2})(?:[T ]?(\d{2}):?(\d{2})(?::?(\d{2}))?(?:[.,]\d+)?(.*))?$`)
	weekDay     = pattern(`^(\d{4})-?W(\d{2})-?([1-7])(.*)$`)
	yearDay     = pattern(`^(\d{4})-(\d{3})(?:\D(.*))?$`)
)

// countedDate reads a date that is given as a number: the seconds or milliseconds
// since 1970, the digits of a date without anything between them, or the day of a
// week or a year (ISO 8601).
func countedDate(text string, zone *time.Location) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '@' && !isDigit(rune(text[0])) {
		return time.Time{}, false
	}
	if f := unixSeconds().FindStringSubmatch(text); f != nil {
		return time.Unix(int64(number(f[1])), 0), true
	}
	if f := unixMillis().FindStringSubmatch(text); f != nil {
		return time.UnixMilli(int64(number(f[1]))), true
	}
	if f := compact().FindStringSubmatch(text); f != nil {
		year, month, day := number(f[1]), time.Month(number(f[2])), number(f[3])
		hour, minute, second := number(f[4]), number(f[5]), number(f[6])
		if isDay(year, month, day) && hour <= 24 && minute <= 59 && second <= 60 {
			return time.Date(year, month, day, hour, minute, second, 0, zoneOf(f[7], zone)), true
		}
	}
	if f := weekDay().FindStringSubmatch(text); f != nil {
		year, week := number(f[1]), number(f[2])
		// The fourth of January is in the first week (ISO 8601).
		fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC)
		monday := 4 - (int(fourth.Weekday())+6)%7
		return dayOfYear(year, monday+7*(week-1)+number(f[3])-1, f[4], zone), week >= 1 && week <= 53
	}
	if f := yearDay().FindStringSubmatch(text); f != nil {
		day := number(f[2])
		return dayOfYear(number(f[1]), day, f[3], zone), day >= 1 && day <= 366
	}
	return time.Time{}, false
}

// dayOfYear returns the time that a text names on a day that is counted from the
// beginning of a year.
func dayOfYear(year, day int, text string, zone *time.Location) time.Time {
	hour, minute, second, nanos, rest := readClock(text)
	return time.Date(year, time.January, day, hour, minute, second, nanos, zoneOf(rest, zone))
}

// usualDigits returns a date with ASCII digits and signs in the place of those of
// other widths, and with the years of Japanese eras counted as everywhere else.
func usualDigits(text string) string {
	ascii := true
	for i := range len(text) {
		ascii = ascii && text[i] < 0x80
	}
	if ascii {
		return text
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case '！' <= r && r <= '～':
			return r - '！' + '!'
		case '٠' <= r && r <= '٩':
			return r - '٠' + '0'
		case r == '−':
			return '-'
		case r == '\u00a0', r == '\u202f', r == '\u3000':
			return ' '
		case r == '\u200e', r == '\u200f':
			return -1
		}
		return r
	}, text)
	for _, era := range [...]struct {
		name  string
		first int
	}{{"令和", 2019}, {"平成", 1989}} {
		before, after, found := strings.Cut(text, era.name)
		if !found {
			continue
		}
		count, rest, found := strings.Cut(after, "年")
		if n := number(strings.TrimSpace(strings.ReplaceAll(count, "元", "1"))); found && n > 0 && n < 100 {
			return before + strconv.Itoa(era.first+n-1) + "年" + rest
		}
	}
	return text
}
