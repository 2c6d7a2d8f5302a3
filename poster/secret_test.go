package poster_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

func TestASecretIsNotSeenHoweverItIsPrinted(t *testing.T) {
	t.Parallel()
	secret := poster.NewSecret("hush")
	var out bytes.Buffer
	holder := struct {
		S poster.Secret
		P *poster.Secret
	}{secret, &secret}
	for _, v := range []any{secret, &secret, holder, []poster.Secret{secret}, map[string]poster.Secret{"k": secret}} {
		fmt.Fprintf(&out, "%v %+v %#v %s %q\n", v, v, v, v, v)
		text, err := json.Marshal(v)
		require.NoError(t, err)
		out.Write(text)
		slog.New(slog.NewTextHandler(&out, nil)).Info("value", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("value", "v", v)
	}
	require.NotContains(t, out.String(), "hush")
	require.Contains(t, out.String(), "[redacted]")
	require.Equal(t, "hush", secret.Reveal())
	require.True(t, poster.Secret{}.IsZero())
	require.Empty(t, poster.Secret{}.String())
}

func TestAnOutcomeIsReadFromTheErrorAndUnknownOtherwise(t *testing.T) {
	t.Parallel()
	later := &poster.Error{Outcome: poster.Later, Status: 429, Reason: "wait"}
	for _, test := range []struct {
		err  error
		want poster.Outcome
		name string
	}{
		{nil, poster.Delivered, "delivered"},
		{later, poster.Later, "later"},
		{fmt.Errorf("post: %w", later), poster.Later, "later"},
		{errors.New("?"), poster.Unknown, "unknown"},
		{&poster.Error{}, poster.Unknown, "unknown"},
		{&poster.Error{Outcome: poster.Delivered}, poster.Unknown, "unknown"},
		{&poster.Error{Outcome: poster.RejectedContent}, poster.RejectedContent, "rejected"},
		{&poster.Error{Outcome: poster.RejectedDestination}, poster.RejectedDestination, "rejected"},
	} {
		require.Equal(t, test.want, poster.OutcomeOf(test.err), "%v", test.err)
		require.Equal(t, test.name, test.want.String())
	}
	require.Equal(t, "wait (HTTP 429)", later.Error())
}
