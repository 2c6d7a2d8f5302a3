// Package poster is the sending side: what a platform is to the rest of the
// program, how an attempt can end, and the one HTTP round trip all platforms
// share. Each platform is a small package below this one.
package poster

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Article is one page of a site as its source describes it.
type Article struct {
	// URL is the absolute http(s) address that is announced: the source's own,
	// less tracking parameters.
	URL string
	// Listed is the address before its source's own strip_params were dropped. Empty:
	// none were. It is not kept: it tells whether the article is known from before
	// they were in the config.
	Listed string `json:",omitempty"`
	// Title is plain text, at most 4 KiB. Empty when the source names none.
	Title string
	// Summary is plain text. Empty when the source names none.
	Summary string
	// Author is the first author's name. Empty when the source names none.
	Author string
	// Image is the absolute address of the article's picture. Empty for none.
	Image string
	// Categories are the source's own labels, in its order.
	Categories []string
	// GUID is the source's own identifier of the article. Empty for none.
	GUID string
	// Source is the name of the source that listed the article. Empty for
	// addresses given by hand.
	Source string
	// Published and Updated are in UTC, in whole milliseconds. Zero: undated.
	Published, Updated time.Time
}

// Post is one announcement as the rules made it, before a platform shapes it.
type Post struct {
	// ID is the entry's, the same for every attempt.
	ID string
	// Destination is the name of the destination it goes to.
	Destination string
	// Text is the rendered text, within the platform's Limit.
	Text string
	// Article is what is announced.
	Article Article
}

// Message is one announcement as it goes out. It is made before the claim and
// stored with it, and every attempt sends these bytes and no others. It holds no
// secret.
type Message struct {
	// ID is the entry's: the idempotency key wherever a platform takes one.
	ID string
	// Text is the announcement's text, for people to read.
	Text string
	// Body is the request's body, or what else the platform needs to repeat it, as
	// UTF-8 text.
	Body []byte
}

// Receipt is what a platform said of a delivered announcement.
type Receipt struct {
	// RemoteID is the platform's own identifier of the post. Empty when it gives none.
	RemoteID string
	// RemoteURL is the post's public address. Empty when it gives none.
	RemoteURL string
}

// Poster announces on one account or channel of one platform. Its methods may be
// called concurrently.
type Poster interface {
	// Traits says what the platform promises and demands. No I/O.
	Traits() Traits
	// Render shapes the post into what will be sent. No I/O. An error means that
	// this post can never be sent as it is.
	Render(p Post) (Message, error)
	// Post sends the message once; it never repeats it by itself. An error wraps
	// *Error, which says how the attempt ended; any other error means Unknown.
	// No error, receipt or log line carries a secret.
	Post(ctx context.Context, m Message) (Receipt, error)
}

// Traits are what the rest of the program needs to know of a platform. Code
// branches on them, never on a platform's name.
type Traits struct {
	// Identity is the text whose fingerprint is the destination's identity: its
	// webhook, or what stands for one.
	Identity Secret
	// Former are identities that the same destination had in earlier versions of the
	// program: what is recorded under them counts. Nil: none.
	Former []Secret
	// Apart names the setting that tells two accounts apart which would have the same
	// identity without it. Empty: there is none.
	Apart string
	// Idempotent says for how long after the first attempt a repeated Message.ID
	// is announced only once. Zero: not at all.
	Idempotent time.Duration
	// Resend says that a message may be sent again when its platform was asked for
	// it twice, with time between, and did not have it. Only with a Verifier.
	Resend bool
	// ResendFor is for how long after the first attempt Resend holds, because a platform
	// keeps the ID that makes two attempts one only so long. Zero: for ever.
	ResendFor time.Duration
	// Limit says how long a text may be, and how the platform counts.
	Limit Limit
	// Escape makes of a plain text, of one line, what the platform shows as that
	// text and nothing else: no markup, no mention. It is applied to what came from
	// outside, never to addresses or to the operator's own words. It is pure, and
	// gives more for more. Nil: the platform shows every text as it is.
	Escape func(text string) string
}

// Checker is implemented by posters that can ask their platform whether it would
// take a post, without posting. A poster without it cannot be asked.
type Checker interface {
	// Check asks once. Its error says what to mend, as those of Post do.
	Check(ctx context.Context) error
}

// Preparer is implemented by posters that bring something to their platform before
// a message can refer to it, such as a picture.
type Preparer interface {
	// Prepare is called after Render and before the message is frozen. It publishes
	// nothing. It returns the message with what it brought, or as it was.
	Prepare(ctx context.Context, a Article, m Message) Message
}

// Learner is implemented by posters whose limit is their server's own.
type Learner interface {
	// Learn asks the server for what Traits say from then on, unless it is known. It is
	// called before texts are made, and publishes nothing. What cannot be learnt stays
	// as it was.
	Learn(ctx context.Context)
}

// Settings are one destination's own settings in the config file.
type Settings interface {
	// Decode fills the struct that into points to, field by field by their yaml
	// tags, strictly: a key that into has no field for is an error, as is a value
	// of another kind. A field of type Secret may also be given as NAME_file. The
	// errors name file, line and column, and all of them are returned joined.
	Decode(into any) error
	// Errorf returns an error about the named setting that carries the file, line
	// and column where it stands, or where the destination begins if it is absent.
	Errorf(key, format string, args ...any) error
}

// Options are what every platform is given beside its settings.
type Options struct {
	// Destination is the destination's name in the config file.
	Destination string
	// HTTP is the client for every request. Client wraps it safely.
	HTTP *http.Client
	// Now is the program's clock.
	Now func() time.Time
	// UserAgent names the program to servers.
	UserAgent string
	// Dir is a directory where a platform may keep, for itself alone, what it would
	// otherwise have to ask for on every run, such as tokens. It need not exist.
	// Empty: nowhere.
	Dir string
	// Hosts are those that the config names for each source, by the source's name: what
	// its articles name is fetched there whatever they are, see Trust.
	Hosts map[string][]string
	// Getenv returns a variable of the program's environment. Nil: there is none.
	Getenv func(name string) string
	// Stdout is where a platform that prints does so.
	Stdout io.Writer
}

// Driver makes the posters of one platform.
type Driver struct {
	// Name is the platform's name: a destination's type in the config file.
	Name string
	// New makes the poster of one destination. It does no I/O. Its errors are
	// those of Settings.
	New func(s Settings, o Options) (Poster, error)
}
