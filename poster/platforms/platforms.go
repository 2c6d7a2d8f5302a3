// Package platforms is the one list of what announcements can be sent to.
package platforms

import (
	"bot/poster"
	"bot/poster/bluesky"
	"bot/poster/console"
	"bot/poster/discord"
	"bot/poster/exec"
	"bot/poster/googlechat"
	"bot/poster/mastodon"
	"bot/poster/matrix"
	"bot/poster/ntfy"
	"bot/poster/slack"
	"bot/poster/teams"
	"bot/poster/telegram"
	"bot/poster/webhook"
	"bot/poster/x"
)

// All returns the drivers of all platforms, sorted by name.
func All() []poster.Driver {
	return []poster.Driver{
		bluesky.Driver(),
		console.Driver(),
		discord.Driver(),
		exec.Driver(),
		googlechat.Driver(),
		mastodon.Driver(),
		matrix.Driver(),
		ntfy.Driver(),
		slack.Driver(),
		teams.Driver(),
		telegram.Driver(),
		webhook.Driver(),
		x.Driver(),
	}
}

// Find returns the driver of that name.
func Find(name string) (poster.Driver, bool) {
	for _, d := range All() {
		if d.Name == name {
			return d, true
		}
	}
	return poster.Driver{}, false
}

// Names returns the names of all platforms, sorted.
func Names() []string {
	var names []string
	for _, d := range All() {
		names = append(names, d.Name)
	}
	return names
}
