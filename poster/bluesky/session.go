package bluesky

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"bot/poster"
)

// session is a login. Logins are scarce (300 a day for an account), so it is kept
// between runs, in a file for its owner alone, and renewed when it has expired
// (https://docs.bsky.app/docs/advanced-guides/rate-limits).
type session struct {
	// DID is the account's ID, which is public.
	DID string
	// Access and Refresh are the tokens, for two hours and for some weeks.
	Access, Refresh poster.Secret
}

// kept is a session as the server gives it and as it is kept.
type kept struct {
	// Account is the server and the account that it belongs to.
	Account string `json:"account"`
	DID     string `json:"did"`
	Access  string `json:"accessJwt"`
	Refresh string `json:"refreshJwt"`
}

var (
	didForm   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^did:[a-z]+:[-._:%A-Za-z0-9]{1,200}$`) })
	tokenForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-._A-Za-z0-9]+$`) })
)

// session returns the session, if what was kept or given is one.
func (k kept) session() (session, bool) {
	ok := didForm().MatchString(k.DID) && tokenForm().MatchString(k.Access) && tokenForm().MatchString(k.Refresh)
	return session{k.DID, poster.NewSecret(k.Access), poster.NewSecret(k.Refresh)}, ok
}

// withSession makes a request with the session, and once more with a new one when
// the server says that its token has expired.
func (a *account) withSession(ctx context.Context, do func(session) (poster.Response, error)) (session, poster.Response, error) {
	s, err := a.open(ctx)
	if err != nil {
		return s, poster.Response{}, err
	}
	r, err := do(s)
	var said answer
	if err != nil || json.Unmarshal(r.Body, &said) != nil || !said.stale() {
		return s, r, err
	}
	if s, err = a.renew(ctx, s); err != nil {
		return s, poster.Response{}, err
	}
	r, err = do(s)
	return s, r, err
}

// open returns the session: that of this run, that of an earlier one, or a new one.
func (a *account) open(ctx context.Context) (session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session != nil {
		return *a.session, nil
	}
	if s, ok := a.load(); ok {
		a.take(s)
		return s, nil
	}
	return a.login(ctx)
}

// renew returns a session in place of one that has expired, unless another
// goroutine was faster.
func (a *account) renew(ctx context.Context, old session) (session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session != nil && a.session.Access.Reveal() != old.Access.Reveal() {
		return *a.session, nil
	}
	s, err := a.ask(ctx, "com.atproto.server.refreshSession", poster.Request{Header: poster.JSONHeader(old.Refresh)})
	if err == nil && s.DID == old.DID {
		return s, nil
	}
	return a.login(ctx)
}

func (a *account) login(ctx context.Context) (session, error) {
	body, err := poster.JSON(map[string]string{"identifier": a.set.Identifier, "password": a.set.Password.Reveal()})
	if err != nil {
		return session{}, err
	}
	return a.ask(ctx, "com.atproto.server.createSession", poster.Request{Header: poster.JSONHeader(poster.Secret{}), Body: body})
}

// ask asks for a session. Whatever goes wrong, nothing was published.
func (a *account) ask(ctx context.Context, method string, req poster.Request) (session, error) {
	req.URL = a.method(method, nil)
	r, err := a.client().Do(ctx, req)
	if err != nil {
		return session{}, harmless(err)
	}
	var said answer
	if json.Unmarshal(r.Body, &said) == nil && said.stale() {
		return session{}, a.client().Fail(poster.Later, r, "the server does not take the session", "")
	}
	if err := a.client().Classify(r); err != nil {
		return session{}, harmless(err)
	}
	var given kept
	_ = json.Unmarshal(r.Body, &given)
	s, ok := given.session()
	if !ok {
		return session{}, harmless(a.client().NoReceipt(r))
	}
	a.take(s)
	given.Account = a.who()
	a.save(given)
	return s, nil
}

// harmless says of an error before the post itself that nothing was published.
func harmless(err error) error {
	e, ok := errors.AsType[*poster.Error](err)
	if !ok {
		return err
	}
	changed := *e
	switch e.Outcome {
	case poster.RejectedContent:
		changed.Outcome = poster.RejectedDestination
	case poster.Unknown:
		changed.Outcome = poster.Later
	}
	changed.Reason = "no login: " + e.Reason
	return &changed
}

// take makes it this run's session, whose tokens are secrets from here on.
func (a *account) take(s session) {
	a.session = &s
	a.current.Store(poster.NewClient(a.o, a.set.Password, s.Access, s.Refresh))
}

func (a *account) who() string { return a.set.Server + " " + a.set.Identifier }

func (a *account) path() string {
	return filepath.Join(a.o.Dir, "sessions", a.o.Destination+".json")
}

// load reads the session of an earlier run. One that cannot be read is none.
func (a *account) load() (session, bool) {
	if a.o.Dir == "" {
		return session{}, false
	}
	data, err := os.ReadFile(a.path())
	var k kept
	if err != nil || json.Unmarshal(data, &k) != nil || k.Account != a.who() {
		return session{}, false
	}
	return k.session()
}

// save keeps the session for later runs. Without it there is a login more, no
// harm, so an error is none.
func (a *account) save(k kept) {
	if a.o.Dir == "" {
		return
	}
	data, err := poster.JSON(k)
	if err != nil {
		return
	}
	// The directory itself is not made: what is not there is somebody else's to open.
	dir := filepath.Dir(a.path())
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return
	}
	f, err := os.CreateTemp(dir, ".session-*")
	if err != nil {
		return
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), a.path())
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}
