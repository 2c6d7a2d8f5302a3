// Package dedupe decides when two announcements are the same one: the one
// spelling of an address, the key built from it, the older shapes of that key,
// and the host guard that keeps local state on one machine.
//
// It does no I/O.
package dedupe

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/google/uuid"
)

// namespace is the project's own UUID namespace. It must never change: every
// entry's ID is derived from it, and a changed ID would be a second post.
var namespace = uuid.MustParse("6d1f0f3e-5c0b-5b7a-9a51-0f6f2c1b7e94")

// FingerprintPrefix starts every webhook fingerprint, and tells one from a raw
// webhook in older records.
const FingerprintPrefix = "wh_"

// Key says what counts as one announcement. Two entries with equal keys are the
// same announcement, and only one of them is ever sent.
type Key struct {
	// Webhook is the fingerprint of the destination's webhook, as Fingerprint
	// returns it. Empty in the oldest records, which know only the address: such
	// a key stands for the address at every destination.
	Webhook string
	// URL is the article's canonical address, as Canonical returns it, or
	// rule/NAME/… for rules that count something other than articles.
	URL string
	// Bucket is the period or ordinal of a rule with a cadence. Empty for rules
	// that announce an article once.
	Bucket string
}

// String returns the key's readable text, webhook|url or webhook|url|bucket.
// Canonical addresses hold no bar, so the text is unambiguous.
func (k Key) String() string {
	if k.Bucket == "" {
		return k.Webhook + "|" + k.URL
	}
	return k.Webhook + "|" + k.URL + "|" + k.Bucket
}

// ID returns the key's identity, the UUIDv5 (RFC 9562 §5.5) of its text in the
// project's namespace. It names the entry everywhere: in files, as a document's
// name, and as the idempotency key that goes over the wire.
func (k Key) ID() string {
	// As uuid.NewSHA1 does it, which allocates more than twice as much: a run makes
	// thousands.
	sum := sha1.Sum(append(namespace[:], k.String()...))
	id := uuid.UUID(sum[:16])
	id[6] = id[6]&0x0f | 5<<4 // the version
	id[8] = id[8]&0x3f | 0x80 // the variant of RFC 9562
	return id.String()
}

// URLOnly returns the key under which the oldest records hold the same address:
// without a webhook, which stands for every destination.
func (k Key) URLOnly() Key { return Key{URL: k.URL} }

// Fingerprint returns what stands for a webhook in keys and state files: wh_ and
// the first 32 hex digits of the SHA-256 of its text. A webhook is a secret and
// its fingerprint is not. Blanks around the webhook do not count. An empty
// webhook gives an empty fingerprint, and a text that is a fingerprint already
// is returned as it is, so that records of every generation go through here.
func Fingerprint(webhook string) string {
	webhook = strings.TrimSpace(webhook)
	if webhook == "" || IsFingerprint(webhook) {
		return webhook
	}
	sum := sha256.Sum256([]byte(webhook))
	return FingerprintPrefix + hex.EncodeToString(sum[:16])
}

// IsFingerprint reports whether s has the shape of a fingerprint.
func IsFingerprint(s string) bool {
	digits, ok := strings.CutPrefix(s, FingerprintPrefix)
	if !ok || len(digits) != 32 {
		return false
	}
	for _, c := range digits {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
