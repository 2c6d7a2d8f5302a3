package cmd

import (
	"slices"

	"bot/dedupe"
)

// addFormer gives every destination the identities that its platform knew it by
// before, but for those that two destinations could claim: what is recorded there
// belongs to one of them, and nobody knows which.
func (f *fleet) addFormer() {
	all := f.queue.Destinations
	former, claims := make([][]string, len(all)), make(map[string]int)
	for i, d := range all {
		claims[d.Webhook]++
		for _, w := range d.Poster.Traits().Former {
			fingerprint := dedupe.Fingerprint(w.Reveal())
			former[i] = append(former[i], fingerprint)
			claims[fingerprint]++
		}
	}
	for i := range all {
		for _, fingerprint := range former[i] {
			if claims[fingerprint] == 1 && !slices.Contains(all[i].FormerWebhooks, fingerprint) {
				all[i].FormerWebhooks = append(all[i].FormerWebhooks, fingerprint)
			}
		}
	}
}
