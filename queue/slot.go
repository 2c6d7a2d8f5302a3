package queue

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule tells when something happens, again and again. It is a
// robfig/cron.Schedule whose answers are right when the clocks change, and never
// zero for a schedule that ParseSchedule took.
//
// A schedule whose hour is * follows real time. Any other names wall-clock times:
// one that the clocks skip happens at the first instant after the gap, and one
// that they repeat happens the first time only.
type Schedule struct {
	zone *time.Location
	// every is the interval of @every. Zero: fields are given.
	every time.Duration
	// wall finds the next wall-clock time, written as if it were UTC.
	wall cron.Schedule
	// hourly: the hour is *, so that real time is followed.
	hourly bool
}

// leastEvery is the shortest interval that @every may have.
const leastEvery = time.Minute

// descriptors are the schedules that have a name.
var descriptors = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// ParseSchedule reads five cron fields, one of @yearly to @hourly, or @every with
// a duration of a minute or more. TZ=ZONE or CRON_TZ=ZONE before it takes the place
// of zone. The error says what is wrong, and what to write, of everything that
// would panic, never happen, or happen at another time than it seems to say.
func ParseSchedule(spec string, zone *time.Location) (*Schedule, error) {
	rest, zone, err := cutZone(strings.TrimSpace(spec), zone)
	if err != nil {
		return nil, err
	}
	if interval, ok := strings.CutPrefix(rest, "@every "); ok {
		d, err := time.ParseDuration(strings.TrimSpace(interval))
		if err != nil || d < leastEvery {
			return nil, fmt.Errorf("@every takes a duration of a minute or more, as in @every 90m")
		}
		return &Schedule{zone: zone, every: d.Truncate(time.Second)}, nil
	}
	if strings.HasPrefix(rest, "@") {
		named, ok := descriptors[rest]
		if !ok {
			return nil, fmt.Errorf("%q is no schedule; there are @yearly, @monthly, @weekly, @daily and @hourly", rest)
		}
		rest = named
	}
	fields := strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(fields) != len(cronFields) {
		return nil, fmt.Errorf("%d fields where there should be 5: minute, hour, day of month, month, day of week", len(fields))
	}
	for i, f := range fields {
		if err := cronFields[i].check(f); err != nil {
			return nil, err
		}
	}
	wall, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse("TZ=UTC " + strings.Join(fields, " "))
	if err != nil {
		return nil, err
	}
	s := &Schedule{zone: zone, wall: wall, hourly: fields[1] == "*" || fields[1] == "*/1"}
	if s.nextWall(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, errors.New("this day never comes")
	}
	return s, nil
}

// cutZone takes the zone off the front of a schedule.
func cutZone(spec string, zone *time.Location) (string, *time.Location, error) {
	if zone == nil {
		zone = time.UTC
	}
	name, found := strings.CutPrefix(spec, "CRON_TZ=")
	if !found {
		if name, found = strings.CutPrefix(spec, "TZ="); !found {
			return spec, zone, nil
		}
	}
	i := strings.IndexAny(name, " \t")
	if i <= 0 {
		return "", nil, errors.New("TZ= wants a zone and then five fields; better leave it out and set timezone")
	}
	own, err := time.LoadLocation(name[:i])
	if err != nil || name[:i] == "Local" {
		return "", nil, fmt.Errorf("%q is not a time zone; write one like Asia/Tokyo or UTC", name[:i])
	}
	return strings.TrimSpace(name[i:]), own, nil
}

// cronField is what one of the five may hold.
type cronField struct {
	name     string
	min, max int
	// names stand for min, min+1, ….
	names []string
	// blank: ? stands for *.
	blank bool
}

var cronFields = [...]cronField{
	{name: "minute", min: 0, max: 59},
	{name: "hour", min: 0, max: 23},
	{name: "day of month", min: 1, max: 31, blank: true},
	{name: "month", min: 1, max: 12, names: []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{name: "day of week", min: 0, max: 6, names: []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}, blank: true},
}

// cronPart is one of the parts of a field between commas.
var cronPart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:(\*)|([0-9A-Za-z]+)(?:-([0-9A-Za-z]+))?)(?:/([0-9]+))?$`)
})

func (f cronField) check(text string) error {
	if f.blank && text == "?" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		m := cronPart().FindStringSubmatch(part)
		if m == nil {
			return fmt.Errorf("%s: %q is not a number, a range like 9-17, a step like */15, or * (plain digits only)", f.name, part)
		}
		low, high := f.min, f.max
		if m[1] == "" {
			var err error
			if low, err = f.value(m[2]); err != nil {
				return err
			}
			switch {
			case m[3] != "":
				if high, err = f.value(m[3]); err != nil {
					return err
				}
			case m[4] == "":
				high = low
			}
		}
		if low > high {
			return fmt.Errorf("%s: %q runs backwards; write two parts with a comma between them", f.name, part)
		}
		if m[4] == "" {
			continue
		}
		if step, err := strconv.Atoi(m[4]); err != nil || step < 1 || step > high-low {
			return fmt.Errorf("%s: the step of %q has to be from 1 to %d; a step begins anew with each round, so a longer one is not an interval", f.name, part, max(high-low, 1))
		}
	}
	return nil
}

// value reads a number or a name.
func (f cronField) value(text string) (int, error) {
	if i := slices.Index(f.names, strings.ToLower(text)); i >= 0 {
		return f.min + i, nil
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil && f.names != nil:
		return 0, fmt.Errorf("%s: %q is neither a number nor one of %s", f.name, text, strings.Join(f.names, ", "))
	case err != nil:
		return 0, fmt.Errorf("%s: %q is not a number", f.name, text)
	case n == 7 && f.max == 6:
		return 0, fmt.Errorf("%s: Sunday is 0, not 7", f.name)
	case n < f.min || n > f.max:
		return 0, fmt.Errorf("%s: %d is not from %d to %d", f.name, n, f.min, f.max)
	}
	return n, nil
}

// Next returns the first time after t, in the schedule's zone and whole seconds.
func (s *Schedule) Next(t time.Time) time.Time {
	if s.every > 0 {
		return t.Truncate(time.Second).Add(s.every)
	}
	after := t.In(s.zone)
	// Each round looks at the time between two changes of the clocks.
	for from := wallOf(after); ; {
		_, offset := after.Zone()
		begin, end := after.ZoneBounds()
		n := s.nextWall(from)
		if n.IsZero() {
			return time.Time{}
		}
		at := n.Add(-time.Duration(offset) * time.Second)
		if end.IsZero() || at.Before(end) {
			if s.hourly || !repeated(begin, n) {
				return at.In(s.zone)
			}
			from = n
			continue
		}
		// What is left of this time has nothing. If the clocks then skip something,
		// it happens at once.
		first := wallOf(end.In(s.zone))
		if !s.hourly && n.Before(first) {
			return end.In(s.zone)
		}
		after, from = end.In(s.zone), first.Add(-time.Nanosecond)
	}
}

// nextWall returns the first wall-clock time after t, or zero if there is none in
// twelve years, which is as far apart as leap days can be and more.
func (s *Schedule) nextWall(t time.Time) time.Time {
	for range 3 {
		if n := s.wall.Next(t); !n.IsZero() {
			return n
		}
		t = t.AddDate(4, 0, 0)
	}
	return time.Time{}
}

// wallOf writes what the clock shows at t as if it were UTC.
func wallOf(t time.Time) time.Time {
	_, offset := t.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// repeated reports whether the clocks showed the wall-clock time n before they
// were set back at begin.
func repeated(begin, n time.Time) bool {
	if begin.IsZero() {
		return false
	}
	return n.Before(wallOf(begin.Add(-time.Nanosecond).In(begin.Location())))
}

// Slots are the times at which a destination is posted to, one entry at each. Nil:
// at any time.
type Slots struct {
	schedules []*Schedule
	text      string
}

// ParseSlot checks one of a destination's slots. @every is refused: it counts from
// whenever somebody asks.
func ParseSlot(spec string, zone *time.Location) (*Schedule, error) {
	s, err := ParseSchedule(spec, zone)
	if err == nil && s.every > 0 {
		return nil, errors.New("@every is no time of day; for a distance between posts set min_interval")
	}
	return s, err
}

// ParseSlots reads a destination's slots. Nil for none.
func ParseSlots(specs []string, zone *time.Location) (*Slots, error) {
	if len(specs) == 0 {
		return nil, nil
	}
	slots := &Slots{text: fmt.Sprintf("%s %q", zone, specs)}
	for _, spec := range specs {
		s, err := ParseSlot(spec, zone)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", spec, err)
		}
		slots.schedules = append(slots.schedules, s)
	}
	return slots, nil
}

// Next returns the first slot after t, in UTC.
func (s *Slots) Next(t time.Time) time.Time {
	var first time.Time
	for _, schedule := range s.schedules {
		if n := schedule.Next(t); !n.IsZero() && (first.IsZero() || n.Before(first)) {
			first = n
		}
	}
	return first.UTC()
}

// String tells these slots from others. Empty for nil.
func (s *Slots) String() string {
	if s == nil {
		return ""
	}
	return s.text
}
