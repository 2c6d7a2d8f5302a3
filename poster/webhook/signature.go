package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"bot/poster"
)

// keyPrefix starts a secret of Standard Webhooks
// (https://github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md).
const keyPrefix = "whsec_"

// signingKeys returns the secrets to sign with, the first one first: while a
// secret is being changed there are two, and a receiver accepts either.
func signingKeys(s poster.Settings, set settings) ([]poster.Secret, error) {
	var errs []error
	var keys []poster.Secret
	add := func(name string, secret poster.Secret) {
		key, err := decodeKey(secret.Reveal())
		if err != nil {
			errs = append(errs, s.Errorf(name, "%s %w", name, err))
			return
		}
		keys = append(keys, poster.NewSecret(string(key)))
	}
	if !set.Secret.IsZero() {
		add("secret", set.Secret)
	}
	for _, secret := range set.Secrets {
		add("secrets", secret)
	}
	return keys, errors.Join(errs...)
}

// decodeKey returns the bytes of a secret. Its errors do not show it. The document
// asks whoever makes a secret for 24 to 64 bytes; it is the receiver that made this
// one, and it checks with it, however long it is.
func decodeKey(secret string) ([]byte, error) {
	text := strings.TrimRight(strings.TrimPrefix(strings.TrimSpace(secret), keyPrefix), "=")
	key, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || len(key) == 0 {
		return nil, fmt.Errorf("is not %s and base64, as Standard Webhooks has it", keyPrefix)
	}
	return key, nil
}

// sign sets the headers of Standard Webhooks. The ID is the same for every
// attempt, the time is the attempt's own.
func (w *webhook) sign(header http.Header, m poster.Message) {
	if len(w.keys) == 0 {
		return
	}
	at := strconv.FormatInt(w.client.Now().Unix(), 10)
	var signatures []string
	for _, key := range w.keys {
		signatures = append(signatures, signature(key, m.ID, at, m.Body))
	}
	header.Set("webhook-id", m.ID)
	header.Set("webhook-timestamp", at)
	header.Set("webhook-signature", strings.Join(signatures, " "))
}

func signature(key poster.Secret, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
