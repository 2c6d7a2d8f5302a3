package x

import (
	"net/url"
	"testing"
	"time"

	"bot/poster"

	"github.com/stretchr/testify/require"
)

// TestTheSignatureIsThatOfTheWorkedExample uses the values of the page as it stood for version 1
// (https://docs.x.com/fundamentals/authentication/oauth-1-0a/creating-a-signature).
func TestTheSignatureIsThatOfTheWorkedExample(t *testing.T) {
	t.Parallel()
	s := settings{
		ConsumerKey:    poster.NewSecret("xvz1evFS4wEEPTGEFPHBog"),
		ConsumerSecret: poster.NewSecret("kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw"),
		AccessToken:    poster.NewSecret("370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb"),
		AccessSecret:   poster.NewSecret("LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE"),
	}
	header := s.sign("POST", "https://api.twitter.com/1/statuses/update.json", url.Values{
		"include_entities": {"true"}, "status": {"Hello Ladies + Gentlemen, a signed OAuth request!"},
	}, time.Unix(1318622958, 0), "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg")
	require.Contains(t, header, `oauth_signature="tnnArxj06cWHq44gCs1OSKk%2FjLY%3D"`)
}
