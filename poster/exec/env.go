package exec

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"bot/poster"
)

// passed are the variables that every program is given if they are set: where programs
// and files are, which language and time it is, and what Windows cannot do without.
// The rest of the environment is not passed on, since the secrets of other
// destinations stand there.
func passed() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_TIME", "TZ",
		"SSL_CERT_FILE", "SSL_CERT_DIR",
		"SystemRoot", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
	}
}

// environment is the program's: what every program is given, and what the config adds
// or sets otherwise.
func environment(s poster.Settings, own map[string]poster.Secret, getenv func(string) string) ([]poster.Secret, error) {
	var all []poster.Secret
	for _, name := range passed() {
		if _, ok := own[name]; ok || getenv == nil {
			continue
		}
		if value := getenv(name); value != "" {
			all = append(all, poster.NewSecret(name+"="+value))
		}
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(own)) {
		value := own[name].Reveal()
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			errs = append(errs, s.Errorf("env", "env: %q is no variable", poster.CleanLine(name)))
			continue
		}
		all = append(all, poster.NewSecret(name+"="+value))
	}
	return all, errors.Join(errs...)
}
