package dedupe_test

import (
	"testing"

	"bot/dedupe"

	"github.com/stretchr/testify/require"
)

func TestKeyReadsAsWebhookAndAddress(t *testing.T) {
	t.Parallel()
	key := dedupe.Key{Webhook: dedupe.Fingerprint("https://hook.example/1"), URL: "https://example.jp/a"}
	require.Equal(t, "wh_5d77058fb3526c060bfbfc748f0be673|https://example.jp/a", key.String())
	key.Bucket = "2026-08-03"
	require.Equal(t, "wh_5d77058fb3526c060bfbfc748f0be673|https://example.jp/a|2026-08-03", key.String())
	require.Equal(t, "|https://example.jp/a", key.URLOnly().String())
}

func TestKeyIDsNeverChange(t *testing.T) {
	t.Parallel()
	key := dedupe.Key{Webhook: "wh_00000000000000000000000000000000", URL: "https://example.jp/a"}
	require.Equal(t, "32bfa96e-25f1-5cde-b561-d5cd746ebcf3", key.ID())
	require.Equal(t, "aa43c4be-adb1-553e-9e71-7fc334587051", key.URLOnly().ID())
	key.Bucket = "2026-08-03"
	require.Equal(t, "bc3a56b2-760e-5f1c-839a-a574133dcb70", key.ID())
}

func TestFingerprintStandsForAWebhook(t *testing.T) {
	t.Parallel()
	const webhook = "https://hook.example/secret"
	fingerprint := dedupe.Fingerprint(webhook)
	require.True(t, dedupe.IsFingerprint(fingerprint))
	require.NotContains(t, fingerprint, "secret")
	require.Equal(t, fingerprint, dedupe.Fingerprint(" "+webhook+"\n"), "blanks do not count")
	require.Equal(t, fingerprint, dedupe.Fingerprint(fingerprint), "a fingerprint stays")
	require.NotEqual(t, fingerprint, dedupe.Fingerprint(webhook+"/"))
	require.Empty(t, dedupe.Fingerprint(" "))
	for _, no := range []string{"", "wh_", "wh_0", fingerprint[1:], fingerprint + "0", "wh_" + "0000000000000000000000000000000G", "WH_" + fingerprint[3:]} {
		require.False(t, dedupe.IsFingerprint(no), no)
	}
}
