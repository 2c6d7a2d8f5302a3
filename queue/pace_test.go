package queue_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bot/dedupe"
	"bot/poster"
	"bot/queue"

	"github.com/stretchr/testify/require"
)

// dues returns the due times of what waits, by address.
func (f *fleet) dues() map[string]time.Time {
	f.t.Helper()
	dues := map[string]time.Time{}
	for e, err := range f.Store.Waiting(context.Background()) {
		require.NoError(f.t, err)
		dues[e.Article.URL] = e.DueAt
	}
	return dues
}

func slots(t *testing.T, specs ...string) *queue.Slots {
	t.Helper()
	s, err := queue.ParseSlots(specs, time.UTC)
	require.NoError(t, err)
	return s
}

// byHand is a batch of addresses that were given by hand, the first to be sent
// first.
func byHand(urls ...string) queue.Batch {
	var b queue.Batch
	for i := range urls {
		b.Articles = append(b.Articles, queue.Article{URL: urls[len(urls)-1-i], Title: "t"})
	}
	return b
}

func TestOneEntryPerSlotTheNextFreeOne(t *testing.T) {
	t.Parallel()
	var input struct {
		Enqueue []struct {
			Now  time.Time
			URLs []string
		}
	}
	var expected struct{ Due map[string]time.Time }
	readCase(t, "slot-collision", &input, &expected)
	f := newFleet(t)
	f.only("news").Slots = slots(t, "0 * * * *")
	for _, e := range input.Enqueue {
		f.clock = e.Now
		f.add(queue.AddOptions{}, byHand(e.URLs...))
	}
	require.Equal(t, expected.Due, f.dues())
}

func TestABacklogGoesOutSpacedAndInOrder(t *testing.T) {
	t.Parallel()
	var input struct {
		Queue     []struct{ URL string }
		ProcessAt []time.Time `json:"process_at"`
	}
	var expected struct {
		PostedPerRunMax []int `json:"posted_per_run_max"`
	}
	readCase(t, "backlog-burst", &input, &expected)
	f := newFleet(t)
	d := f.only("news")
	d.MinInterval, d.MaxPerRun = 10*time.Minute, 2
	f.clock = time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	var urls []string
	for _, e := range input.Queue {
		urls = append(urls, e.URL)
	}
	f.add(queue.AddOptions{}, byHand(urls...))
	require.Len(t, input.ProcessAt, len(expected.PostedPerRunMax))
	for i, at := range input.ProcessAt {
		f.clock = at
		require.LessOrEqual(t, f.process(queue.ProcessOptions{}).Posted, expected.PostedPerRunMax[i])
	}
	for range len(urls) {
		f.clock = f.clock.Add(10 * time.Minute)
		f.process(queue.ProcessOptions{})
	}
	require.Len(t, f.news.posts, len(urls), "nothing is lost")
	for i, text := range f.news.texts() {
		require.Equal(t, "t "+urls[i], text)
	}
}

func TestTwoRunsInOneSecondSendWhatIsDueOnce(t *testing.T) {
	t.Parallel()
	var input struct {
		Queue []struct {
			URL string
			Due time.Time
		}
		ProcessAt []time.Time `json:"process_at"`
	}
	var expected struct {
		PostedTotal int `json:"posted_total"`
	}
	readCase(t, "daylong-lateness", &input, &expected)
	f := newFleet(t)
	f.only("news")
	f.clock = input.Queue[0].Due
	f.add(queue.AddOptions{}, byHand(input.Queue[0].URL))
	for _, at := range input.ProcessAt {
		f.clock = at
		f.process(queue.ProcessOptions{})
	}
	require.Len(t, f.news.posts, expected.PostedTotal)
}

func TestSpacingCountsFromTheLastPostAndPerDestination(t *testing.T) {
	t.Parallel()
	var input struct {
		Queue     []struct{ Destination, URL string }
		ProcessAt []time.Time `json:"process_at"`
	}
	var expected struct{ Posted [][]string }
	readCase(t, "min-interval", &input, &expected)
	f := newFleet(t)
	names := map[string]string{"dst-a": "news", "dst-b": "fans"}
	f.clock = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	for i := range f.Destinations {
		f.Destinations[i].MinInterval = 15 * time.Minute
	}
	f.add(queue.AddOptions{To: []string{"news"}}, byHand("https://example.jp/before"))
	f.process(queue.ProcessOptions{})
	for _, e := range input.Queue {
		f.add(queue.AddOptions{To: []string{names[e.Destination]}}, byHand(e.URL))
	}
	for i, at := range input.ProcessAt {
		// The other destination has not been posted to, so its entry is due at once.
		f.clock = at
		posted := []string{}
		for _, s := range f.process(queue.ProcessOptions{}).Sent {
			for name, is := range names {
				if is == s.Destination {
					posted = append(posted, name+"|"+s.Entry.Article.URL)
				}
			}
		}
		require.Equal(t, expected.Posted[i], posted)
	}
}

func TestAfterADowntimeEachSlotHasOneEntry(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news").Slots = slots(t, "0 9,12,18 * * *")
	f.clock = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	f.add(queue.AddOptions{}, byHand("https://example.jp/1", "https://example.jp/2", "https://example.jp/3", "https://example.jp/4"))
	sent := func(at string) int {
		clock, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		f.clock = clock
		return f.process(queue.ProcessOptions{}).Posted
	}
	require.Equal(t, 0, sent("2026-12-01T08:59:59Z"))
	require.Equal(t, 1, sent("2026-12-03T10:00:00Z"), "two days late, the oldest goes at once")
	require.Equal(t, 0, sent("2026-12-03T11:59:59Z"))
	require.Equal(t, 1, sent("2026-12-03T12:00:00Z"))
	require.Equal(t, 1, sent("2026-12-03T18:01:00Z"))
	require.Equal(t, 0, sent("2026-12-03T18:02:00Z"))
	require.Equal(t, 1, sent("2026-12-04T09:00:00Z"))
	require.Equal(t, []string{"t https://example.jp/1", "t https://example.jp/2", "t https://example.jp/3", "t https://example.jp/4"}, f.news.texts())
}

func TestChangedSlotsReplanWhatWaits(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	d := f.only("news")
	d.Slots = slots(t, "0 9 * * 0")
	f.clock = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	f.add(queue.AddOptions{}, byHand("https://example.jp/1", "https://example.jp/2", "https://example.jp/3"))
	f.add(queue.AddOptions{At: time.Date(2026, 12, 20, 0, 0, 0, 0, time.UTC)}, byHand("https://example.jp/asked"))
	for e, err := range f.Store.Waiting(context.Background()) {
		require.NoError(t, err)
		if e.Article.URL == "https://example.jp/2" {
			_, err = f.Store.Update(context.Background(), e.ID, func(e queue.Entry) (queue.Entry, error) {
				return queue.Reschedule(e, time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC))
			})
			require.NoError(t, err)
		}
	}
	d.Slots = slots(t, "0 10 * * *")
	f.process(queue.ProcessOptions{})
	at := func(day, hour int) time.Time { return time.Date(2026, 12, day, hour, 0, 0, 0, time.UTC) }
	require.Equal(t, map[string]time.Time{
		"https://example.jp/1": at(1, 10), "https://example.jp/3": at(2, 10),
		"https://example.jp/2": at(24, 0), "https://example.jp/asked": at(20, 10),
	}, f.dues())
	d.Slots = nil
	f.process(queue.ProcessOptions{})
	require.Equal(t, []string{"t https://example.jp/1", "t https://example.jp/3"}, f.news.texts(), "without slots they are due at once")
}

func TestQuietTimesAndDailyCapsHoldAndNeverEat(t *testing.T) {
	t.Parallel()
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	require.NoError(t, err)
	f := newFleet(t)
	f.Zone = tokyo
	d := f.only("news")
	d.Quiet = queue.Quiet{From: 22 * hour, To: 7 * hour, Zone: tokyo}
	d.MaxPerDay = 2
	f.clock = time.Date(2026, 12, 1, 23, 0, 0, 0, tokyo)
	f.add(queue.AddOptions{}, byHand("https://example.jp/1", "https://example.jp/2", "https://example.jp/3"))
	morning := time.Date(2026, 12, 2, 7, 0, 0, 0, tokyo)
	for _, due := range f.dues() {
		require.WithinDuration(t, morning, due, 0)
	}
	f.clock = morning.Add(-time.Millisecond)
	require.Zero(t, f.process(queue.ProcessOptions{}).Posted)
	f.clock = morning
	f.news.answer(&poster.Error{Outcome: poster.Later, NotBefore: morning.Add(time.Second), Reason: "429"})
	require.Zero(t, f.process(queue.ProcessOptions{}).Posted)
	f.clock = morning.Add(time.Minute)
	require.Equal(t, 2, f.process(queue.ProcessOptions{}).Posted, "an attempt that published nothing is not counted")
	f.clock = time.Date(2026, 12, 2, 21, 59, 0, 0, tokyo)
	require.Zero(t, f.process(queue.ProcessOptions{}).Posted)
	f.clock = time.Date(2026, 12, 3, 0, 0, 0, 0, tokyo)
	require.Zero(t, f.process(queue.ProcessOptions{}).Posted, "tomorrow it is quiet until seven")
	f.clock = time.Date(2026, 12, 3, 7, 0, 0, 0, tokyo)
	require.Equal(t, 1, f.process(queue.ProcessOptions{}).Posted)
}

// TestPlansAndSendsKeepTheirPromises tries schedules, zones and backlogs at random,
// the same ones each time.
func TestPlansAndSendsKeepTheirPromises(t *testing.T) {
	t.Parallel()
	zones := []string{"UTC", "Asia/Tokyo", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe"}
	specs := [][]string{nil, {"0 9,12,18 * * *"}, {"*/20 * * * *"}, {"30 2 * * *", "0 */3 * * *"}, {"15 8-20/2 * * mon-fri"}}
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			state := seed*2862933555777941757 + 3037000493
			random := func(n int) int {
				state ^= state << 13
				state ^= state >> 7
				state ^= state << 17
				return int(state % uint64(n))
			}
			zone, err := time.LoadLocation(zones[random(len(zones))])
			require.NoError(t, err)
			f := newFleet(t)
			f.Zone = zone
			d := f.only("news")
			d.Slots, err = queue.ParseSlots(specs[random(len(specs))], zone)
			require.NoError(t, err)
			d.MinInterval = time.Duration(random(3)) * 17 * time.Minute
			d.MaxPerDay = random(3) * 4
			if random(2) == 0 {
				d.Quiet = queue.Quiet{From: 22 * hour, To: 7*hour + 30*time.Minute, Zone: zone}
			}
			type post struct {
				at  time.Time
				url string
			}
			var posts []post
			f.news.during = func() {
				posts = append(posts, post{f.clock, f.news.posts[len(f.news.posts)-1].Text})
			}
			// Around a change of the clocks in three of the zones.
			f.clock = time.Date(2027, 3, 12, random(24), random(60), 0, 0, zone).UTC()
			var urls []string
			for range 12 {
				var some []string
				for range random(4) {
					urls = append(urls, fmt.Sprintf("https://example.jp/%d", len(urls)))
					some = append(some, urls[len(urls)-1])
				}
				f.add(queue.AddOptions{}, byHand(some...))
				checkPlan(t, f, d)
				f.process(queue.ProcessOptions{})
				f.clock = f.clock.Add(time.Duration(random(400)) * time.Minute)
			}
			for range 3000 {
				if len(posts) == len(urls) {
					break
				}
				f.process(queue.ProcessOptions{})
				f.clock = f.clock.Add(10 * time.Minute)
			}
			require.Len(t, posts, len(urls), "nothing is lost")
			days := map[string]int{}
			for i, p := range posts {
				require.Equal(t, "t "+urls[i], p.url, "order is kept")
				require.Equal(t, p.at, d.Quiet.Until(p.at), "quiet")
				day := p.at.In(zone).Format(time.DateOnly)
				days[day]++
				if d.MaxPerDay > 0 {
					require.LessOrEqual(t, days[day], d.MaxPerDay)
				}
				if i > 0 {
					require.GreaterOrEqual(t, p.at.Sub(posts[i-1].at), d.MinInterval)
					if d.Slots != nil {
						require.False(t, d.Slots.Next(posts[i-1].at).After(p.at), "two in one slot")
					}
				}
			}
		})
	}
}

// checkPlan checks that what waits is planned as the destination asks.
func checkPlan(t *testing.T, f *fleet, d *queue.Destination) {
	t.Helper()
	taken := map[time.Time]bool{}
	for e, err := range f.Store.Waiting(context.Background()) {
		require.NoError(t, err)
		if d.Slots != nil {
			require.False(t, taken[e.DueAt], "two entries for %s", e.DueAt)
			require.Equal(t, e.DueAt, d.Slots.Next(e.DueAt.Add(-time.Nanosecond)), "not a slot")
		}
		require.WithinDuration(t, e.DueAt, d.Quiet.Until(e.DueAt), 0)
		taken[e.DueAt] = true
	}
	for a := range taken {
		for b := range taken {
			if a.Before(b) {
				require.GreaterOrEqual(t, b.Sub(a), d.MinInterval)
			}
		}
	}
}

func TestShadowDoesEverythingButTheRequest(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news").MinInterval = hour
	f.Rules[0].Shadow = true
	f.add(queue.AddOptions{}, batch(false, article("a", 2*hour), article("b", hour)))
	f.add(queue.AddOptions{}, byHand("https://example.jp/live"))
	done := f.process(queue.ProcessOptions{})
	require.Equal(t, 1, done.Shadow)
	require.Equal(t, 1, done.Posted, "neither pace holds up the other")
	require.Equal(t, []string{"t https://example.jp/live"}, f.news.texts())
	key := dedupe.Key{Webhook: f.Destinations[0].Webhook, URL: "https://example.jp/a"}
	e, err := f.Store.Get(context.Background(), key.ID())
	require.NoError(t, err)
	require.Equal(t, queue.Posted, e.Status)
	require.True(t, e.Shadow)
	require.Equal(t, "a https://example.jp/a", e.Message.Text)
	require.Equal(t, []byte("a https://example.jp/a"), e.Message.Body)

	f.Rules[0].Shadow = false
	added := f.add(queue.AddOptions{}, batch(false, article("a", 2*hour), article("b", hour)))
	require.Equal(t, 2, added.Already)
	f.clock = f.clock.Add(2 * hour)
	require.Equal(t, 1, f.process(queue.ProcessOptions{}).Posted, "what had not been claimed goes out")
	require.Equal(t, []string{"t https://example.jp/live", "b https://example.jp/b"}, f.news.texts())
}

func TestWhatShadowClaimedIsNeverSent(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.only("news")
	f.news.idempotent = hour
	f.Rules[0].Shadow = true
	f.add(queue.AddOptions{}, batch(false, article("a", hour)))
	key := dedupe.Key{Webhook: f.Destinations[0].Webhook, URL: "https://example.jp/a"}
	// A worker dies between claim and settle, and the rule is promoted.
	_, err := f.Store.Update(context.Background(), key.ID(), func(e queue.Entry) (queue.Entry, error) {
		e, err := queue.TakeClaim(e, now, false, 0, queue.Claim{Token: "t", At: now, LeaseUntil: now.Add(time.Minute)}, poster.Message{ID: e.ID, Text: "as it was"})
		e.Shadow = true
		return e, err
	})
	require.NoError(t, err)
	f.Rules[0].Shadow = false
	f.clock = now.Add(hour)
	require.Equal(t, 1, f.process(queue.ProcessOptions{}).Shadow)
	require.Empty(t, f.news.posts)
}
