package queue_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bot/queue"

	"github.com/stretchr/testify/require"
)

// readCase reads one of the cases of schedules that went wrong in other programs.
func readCase(t *testing.T, name string, input, expected any) {
	t.Helper()
	for file, into := range map[string]any{"input.json": input, "expected.json": expected} {
		data, err := os.ReadFile(filepath.Join("testdata", "schedule", name, file))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, into))
	}
}

func TestSchedulesThatWentWrongElsewhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"dow-seven", "dst-gap", "dst-overlap", "every-traps", "field-count", "leap-day", "month-end", "never", "step-traps", "tz-prefix"} {
		var input struct {
			Rows []struct {
				Spec, TZ string
				From     time.Time
			}
		}
		var expected struct {
			Rows []struct {
				Error bool
				Next  []time.Time
			}
		}
		readCase(t, name, &input, &expected)
		require.NotEmpty(t, input.Rows)
		for i, row := range input.Rows {
			t.Run(name+" "+row.Spec, func(t *testing.T) {
				t.Parallel()
				zone, err := time.LoadLocation(row.TZ)
				require.NoError(t, err)
				s, err := queue.ParseSchedule(row.Spec, zone)
				if expected.Rows[i].Error {
					require.Error(t, err)
					require.NotEmpty(t, err.Error())
					return
				}
				require.NoError(t, err)
				at := row.From
				for _, want := range expected.Rows[i].Next {
					at = s.Next(at)
					require.WithinDuration(t, want, at, 0, "%s", at)
				}
			})
		}
	}
}

func TestWhatIsWrongWithAScheduleIsSaid(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"0 0 8 * * *":   "6 fields where there should be 5: minute, hour, day of month, month, day of week",
		"0 8 * * 7":     "day of week: Sunday is 0, not 7",
		"*/90 * * * *":  "minute: the step of \"*/90\" has to be from 1 to 59; a step begins anew with each round, so a longer one is not an interval",
		"0 9 30 2 *":    "this day never comes",
		"TZ=Asia/Tokyo": "TZ= wants a zone and then five fields; better leave it out and set timezone",
		"@every 0s":     "@every takes a duration of a minute or more, as in @every 90m",
		"0 8 * * 5-1":   `day of week: "5-1" runs backwards; write two parts with a comma between them`,
		"60 * * * *":    "minute: 60 is not from 0 to 59",
	} {
		_, err := queue.ParseSchedule(spec, time.UTC)
		require.EqualError(t, err, want, spec)
	}
	_, err := queue.ParseSlots([]string{"@every 90m"}, time.UTC)
	require.EqualError(t, err, `"@every 90m": @every is no time of day; for a distance between posts set min_interval`)
}

func TestAScheduleInOddZonesGoesForwardAndFiresOncePerDay(t *testing.T) {
	t.Parallel()
	// Half an hour of daylight saving, a change at midnight, a day that was skipped.
	for _, name := range []string{"Australia/Lord_Howe", "America/Sao_Paulo", "Pacific/Apia", "Asia/Beirut", "Europe/Dublin", "America/New_York"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		for _, spec := range []string{"0 0 * * *", "15 2 * * *", "45 1 * * *"} {
			s, err := queue.ParseSchedule(spec, zone)
			require.NoError(t, err)
			days := map[string]bool{}
			last := time.Date(2011, 6, 1, 12, 0, 0, 0, zone)
			for range 3000 {
				next := s.Next(last)
				require.True(t, next.After(last), "%s %s: %s", name, spec, last)
				require.Less(t, next.Sub(last), 49*time.Hour, "%s %s: %s", name, spec, last)
				day := next.Format(time.DateOnly)
				// Apia skipped a whole day, whose slot came right after it.
				require.False(t, days[day] && day != "2011-12-31", "%s %s: twice on %s", name, spec, day)
				days[day] = true
				last = next
			}
		}
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, spec := range []string{"0 9,12,18 * * *", "TZ=", "@every -5m", "*/90 * * * *", "0 , 1 * *", "1-59/7 0-23/2 ? jan-dec mon,sun"} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		s, err := queue.ParseSchedule(spec, time.UTC)
		if err != nil {
			return
		}
		from := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
		require.True(t, s.Next(from).After(from))
	})
}

func TestQuietTimesEndOnTheWallClock(t *testing.T) {
	t.Parallel()
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	newYork, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	night := queue.Quiet{From: 22 * time.Hour, To: 7 * time.Hour, Zone: tokyo}
	noon := queue.Quiet{From: 12 * time.Hour, To: 13 * time.Hour, Zone: tokyo}
	early := queue.Quiet{From: 22 * time.Hour, To: 150 * time.Minute, Zone: newYork}
	for _, test := range []struct {
		name     string
		quiet    queue.Quiet
		at, want string
	}{
		{"before midnight it ends tomorrow", night, "2026-12-01T23:00:00+09:00", "2026-12-02T07:00:00+09:00"},
		{"after midnight it ends today", night, "2026-12-02T03:00:00+09:00", "2026-12-02T07:00:00+09:00"},
		{"its first moment is quiet", night, "2026-12-01T22:00:00+09:00", "2026-12-02T07:00:00+09:00"},
		{"its end is not", night, "2026-12-02T07:00:00+09:00", "2026-12-02T07:00:00+09:00"},
		{"the day is not", night, "2026-12-02T21:59:59+09:00", "2026-12-02T21:59:59+09:00"},
		{"within one day", noon, "2026-12-02T12:30:00+09:00", "2026-12-02T13:00:00+09:00"},
		{"none", queue.Quiet{}, "2026-12-02T12:30:00+09:00", "2026-12-02T12:30:00+09:00"},
		{"an end that the clocks skip is right after the gap", early, "2027-03-14T01:00:00-05:00", "2027-03-14T03:00:00-04:00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			at, err := time.Parse(time.RFC3339, test.at)
			require.NoError(t, err)
			want, err := time.Parse(time.RFC3339, test.want)
			require.NoError(t, err)
			require.WithinDuration(t, want, test.quiet.Until(at), 0)
		})
	}
}
