//go:build unix

package cmd_test

import "fmt"

// findings are what a ledger and its receiver say of each other.
type findings struct {
	// states counts the entries in each.
	states map[string]int
	// twice counts the keys of which more than one post may have been published.
	twice int
	// wrong has a line for each of the first things that may not be, and wrongs counts
	// all of them.
	wrong  []string
	wrongs int
}

// object notes something that may not be.
func (f *findings) object(format string, args ...any) {
	const most = 10
	if f.wrongs++; f.wrongs <= most {
		f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
	}
}

// moody is what a receiver in a bad way answers: mostly that it took the post, and at
// times that it comes too early, that something broke, or nothing at all.
func moody(random *seeded) int {
	switch random.intn(40) {
	case 0, 1:
		return 429
	case 2, 3:
		return 500
	case 4, 5:
		return 0
	default:
		return 200
	}
}

// audit holds the ledger against every answer of a moody receiver. Only a 429 tells
// that a post was certainly not published, so only after one may another follow.
func audit(ledger map[string]record, received map[string][]int) findings {
	found := findings{states: map[string]int{}}
	for id, answers := range received {
		published := 0
		for i, a := range answers {
			if a == 429 {
				continue
			}
			published++
			if i < len(answers)-1 {
				found.object("%s was sent again after an answer that may mean it was published: %v", id, answers)
			}
		}
		if published > 1 {
			found.twice++
		}
		if _, ok := ledger[id]; !ok {
			found.object("%s was sent and is not in the ledger: %v", id, answers)
		}
	}
	for id, e := range ledger {
		found.states[e.Status]++
		answers := received[id]
		last := 0
		if len(answers) > 0 {
			last = answers[len(answers)-1]
		}
		switch {
		case e.Status == "uncertain":
		case e.Status == "posted" && last/100 == 2:
		case e.Status == "failed" && last == 429 && e.Attempts == 10:
		case e.Status == "queued" && (last == 429 || len(answers) == 0):
		default:
			found.object("%s is %s after %d attempts, and the receiver answered %v", id, e.Status, e.Attempts, answers)
		}
	}
	return found
}
