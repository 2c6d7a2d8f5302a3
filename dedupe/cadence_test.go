package dedupe_test

import (
	"testing"
	"time"

	"bot/dedupe"

	"github.com/stretchr/testify/require"
)

func TestBucketsGoByTheFleetsCalendar(t *testing.T) {
	t.Parallel()
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	sundayEvening := time.Date(2026, 8, 2, 14, 59, 59, 0, time.UTC) // 23:59:59 in Tokyo
	for _, test := range []struct {
		name   string
		period dedupe.Period
		at     time.Time
		zone   *time.Location
		want   string
	}{
		{"once has none", dedupe.Once, sundayEvening, tokyo, ""},
		{"nothing said is once", "", sundayEvening, tokyo, ""},
		{"the day is the zone's", dedupe.Daily, sundayEvening, tokyo, "daily 2026-08-02"},
		{"a second later it is tomorrow there", dedupe.Daily, sundayEvening.Add(time.Second), tokyo, "daily 2026-08-03"},
		{"and not in UTC", dedupe.Daily, sundayEvening.Add(time.Second), nil, "daily 2026-08-02"},
		{"a week ends on Sunday", dedupe.Weekly, sundayEvening, tokyo, "weekly 2026-07-27"},
		{"and begins on Monday", dedupe.Weekly, sundayEvening.Add(time.Second), tokyo, "weekly 2026-08-03"},
		{"a week spans the turn of the year", dedupe.Weekly, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), nil, "weekly 2026-12-28"},
		{"a month is its first", dedupe.Monthly, sundayEvening, tokyo, "monthly 2026-08-01"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, dedupe.Cadence{Period: test.period}.Bucket(test.at, test.zone))
		})
	}
}

func TestEveryNthBeginsWithTheFirst(t *testing.T) {
	t.Parallel()
	var announced []string
	for n := 1; n <= 8; n++ {
		if bucket, ok := (dedupe.Cadence{Period: dedupe.Every, N: 3}).Nth(n); ok {
			announced = append(announced, bucket)
		}
	}
	require.Equal(t, []string{"every 1", "every 4", "every 7"}, announced)
}
