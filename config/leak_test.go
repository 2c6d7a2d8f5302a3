package config_test

import (
	"fmt"
	"testing"

	"bot/config"

	"github.com/stretchr/testify/require"
)

// TestNoProblemTellsASecret puts a secret from the environment, and one that stands
// in the file, where every kind of value is wanted, and looks for them in what is
// said of it.
func TestNoProblemTellsASecret(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	keys := map[string][]string{
		"%s\n":               {"timezone", "state", "sources", "destinations", "rules", "serve", "nokey"},
		"state:\n  %s\n":     {"backend", "dir", "project"},
		"sources:\n  - %s\n": {"name", "feed", "site", "list", "max_age", "first_run", "brake", "strip_params", "hosts", "timezone", "ready"},
		"rules:\n  - %s\n":   {"name", "from", "to", "match", "exclude", "announce", "per", "mode", "text"},
		"destinations:\n- %s\n": {"name", "type", "former_webhooks", "former_webhooks_file", "min_interval", "max_per_run", "text",
			"webhook", "webhook_file", "token", "secrets", "headers", "server", "thread", "ratio", "loud", "wait", "tags", "parts", "part"},
	}
	values := []string{
		"${S}", "x${S}(", "https://${S}:%%zz@/", "[${S}]", "[[${S}]]", "{a: ${S}}", "{${S}: a}", "{name: '${S}'}", "{title: '(${S}'}",
		"'${S}", "\"\\q ${S}\"", "*x", "!x ${S}", "&a ${S}", "${S}: b", "${S${S}}",
	}
	e := env{"S": secret}
	for section, names := range keys {
		for _, key := range names {
			for _, value := range values {
				text := fmt.Sprintf(section, key+": "+value)
				check := func(err error) {
					if err != nil {
						require.NotContains(t, err.Error(), secret, text)
					}
				}
				c, err := parse(text, e)
				check(err)
				if c == nil {
					continue
				}
				for _, d := range c.Destinations {
					check(d.Settings.Decode(new(own)))
				}
			}
		}
	}
}

// TestNoProblemTellsASecretOfTheFile does the same for secrets that stand in the
// file itself, in the keys that are for secrets.
func TestNoProblemTellsASecretOfTheFile(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for _, key := range []string{"webhook", "token", "secrets", "former_webhooks", "headers", "webhok"} {
		for _, value := range []string{
			secret, "[" + secret + "]", "[[" + secret + "]]", "{a: [" + secret + "]}", "https://a.example/$" + secret, "${" + secret,
			"${:-" + secret + "}", "*" + secret, "!" + secret, "'" + secret, "\"\\q" + secret + "\"", "a: " + secret, "https://" + secret + "/: x",
			"@" + secret, "|" + secret, "[" + secret, "{" + secret, "- " + secret, "%" + secret, "{https://" + secret + ": {}}",
		} {
			text := destination("    " + key + ": " + value + "\n")
			c, err := parse(text, nil)
			if c != nil {
				err = config.Join(err, c.Destinations[0].Settings.Decode(new(own)))
			}
			if err != nil {
				require.NotContains(t, err.Error(), secret, text)
			}
		}
	}
}
