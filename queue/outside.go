package queue

import (
	"context"
	"net/http"

	"bot/poster"
)

// AddressError tells of an address that is not to be gone to. Like Outside and Trust
// it is the posters' too, who may not know of queues.
type AddressError = poster.AddressError

// Outside returns a copy of a client for addresses that other people wrote; see
// poster.Outside.
func Outside(base *http.Client) *http.Client { return poster.Outside(base) }

// Trust returns a context for requests on behalf of a source with these hosts; see
// poster.Trust.
func Trust(ctx context.Context, hosts ...string) context.Context { return poster.Trust(ctx, hosts...) }
