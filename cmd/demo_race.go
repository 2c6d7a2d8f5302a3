package cmd

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"bot/poster"
	"bot/queue"
)

// crash shows what becomes of an entry whose worker dies between the claim and
// the record of how the send went.
func (d *demo) crash(ctx context.Context) error {
	d.title("A run dies right after its request was written, before it could record how that went.")
	before := d.site.received()
	id, err := d.dieSending(ctx)
	if err != nil {
		return err
	}
	d.show("bot process   # killed in the middle", exitDone,
		fmt.Sprintf("the receiver got %d post; the entry is left claimed", d.site.received().total()-before.total()))
	d.title("When the claim's lease is over, the next run does not guess: it may have been announced, so it is not sent again.")
	d.now = d.now.Add(queue.Lease + time.Minute)
	if err := d.bot(ctx, exitNeedsPerson, "process"); err != nil {
		return err
	}
	d.title("A person looks at the account, and decides.")
	if err := d.bot(ctx, exitDone, "resolve", id, "--posted"); err != nil {
		return err
	}
	return d.bot(ctx, exitDone, "run")
}

// dieSending claims and sends the one entry that is due, and ends the worker
// before it can settle. It returns the entry's ID.
func (d *demo) dieSending(ctx context.Context) (string, error) {
	var claimed string
	err := d.withStore(ctx, "bot.yaml", func(a *app, f *fleet) error {
		for i, dest := range f.queue.Destinations {
			f.queue.Destinations[i].Poster = dyingPoster{dest.Poster, &claimed}
		}
		_, err := a.processor(f).Run(ctx, queue.ProcessOptions{Limit: 1})
		return err
	})
	return claimed, err
}

// dyingPoster sends, and then ends the worker that asked it to.
type dyingPoster struct {
	poster.Poster
	sent *string
}

func (p dyingPoster) Post(ctx context.Context, m poster.Message) (poster.Receipt, error) {
	*p.sent = m.ID
	p.Poster.Post(ctx, m) //nolint:errcheck // nobody will know
	runtime.Goexit()
	return poster.Receipt{}, nil
}

// racers is how many workers race for one entry.
const racers = 16

// race shows sixteen workers on one entry: with claims, and with what most bots
// do instead.
func (d *demo) race(ctx context.Context) error {
	d.title(fmt.Sprintf("%d workers race for one entry. Claim first, send second:", racers))
	if err := d.bot(ctx, exitDone, "enqueue", "--url", "https://games.example/race", "--to", "news"); err != nil {
		return err
	}
	before := d.site.received().total()
	if err := d.raceClaims(ctx); err != nil {
		return err
	}
	sent := d.site.received().total() - before
	d.show(fmt.Sprintf("bot process   # %d times at once", racers), exitDone, fmt.Sprintf("%d workers, sends: %d", racers, sent))
	if sent != 1 {
		return fmt.Errorf("%d sends of one entry", sent)
	}

	d.title("The same race, where a worker looks whether it was sent, sends, and then writes that down:")
	before = d.site.received().total()
	if err := d.raceLookThenWrite(ctx); err != nil {
		return err
	}
	sent = d.site.received().total() - before
	d.show("look-then-write", exitDone, fmt.Sprintf("%d workers, sends: %d", racers, sent))
	return nil
}

// raceClaims lets every racer open the ledger for itself, as a process of its own
// would, and process what is due.
func (d *demo) raceClaims(ctx context.Context) error {
	var wg sync.WaitGroup
	var start sync.WaitGroup
	start.Add(racers)
	errs := make([]error, racers)
	for i := range racers {
		wg.Go(func() {
			errs[i] = d.withStore(ctx, "bot.yaml", func(a *app, f *fleet) error {
				start.Done()
				start.Wait()
				_, err := a.processor(f).Run(ctx, queue.ProcessOptions{})
				return err
			})
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// withStore does something with a fleet of the scratch world, and its ledger open.
func (d *demo) withStore(ctx context.Context, config string, do func(*app, *fleet) error) error {
	a := newApp(d.env(nil))
	a.configFile, a.quiet, a.logLevel, a.logFormat = config, true, "error", "text"
	if err := a.setLogger(); err != nil {
		return err
	}
	return a.writing(ctx, func(_ context.Context, f *fleet) error { return do(a, f) })
}

// raceLookThenWrite is the mistake that claims are there for. The racers all look
// before the first of them writes, which is what happens sooner or later.
func (d *demo) raceLookThenWrite(ctx context.Context) error {
	const url = "https://games.example/race-again"
	list := filepath.Join(d.dir, "sent.txt")
	if err := os.WriteFile(list, nil, 0o600); err != nil {
		return err
	}
	var wg, looked sync.WaitGroup
	looked.Add(racers)
	errs := make([]error, racers)
	for i := range racers {
		wg.Go(func() { errs[i] = d.lookThenWrite(ctx, list, url, &looked) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) lookThenWrite(ctx context.Context, list, url string, looked *sync.WaitGroup) error {
	known, err := os.ReadFile(list)
	looked.Done()
	looked.Wait()
	if err != nil || strings.Contains(string(known), url) {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.site.url+"/hook/news", strings.NewReader(url))
	if err != nil {
		return err
	}
	answer, err := d.site.client.Do(request)
	if err != nil {
		return err
	}
	answer.Body.Close()
	file, err := os.OpenFile(list, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = fmt.Fprintln(file, url)
	return err
}
