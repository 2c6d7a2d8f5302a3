package dedupe

// The host guard.
//
// What it is for. Deduplication is only as good as the ledger it looks into. The
// local ledger (queue.json, posted.json and their journal) is a few files on one
// machine's disk, and a second machine does not see them. Two machines that run
// from the same config each believe that nothing was announced yet, and between
// them they announce everything twice. No lock on a disk helps against a machine
// that does not share the disk. So while state is local, one machine owns it, by
// name, and every command that writes state asks here first.
//
// When it may go. There is ONE condition: what is queued and what is posted live
// where every machine can read them, that is, Firestore-backed state has replaced
// the local JSON files. Then the claim on an entry is one atomic step for all
// machines, and the guard has nothing left to guard. Nothing else is enough. Two
// things look like enough and are not:
//
//   - The state path was made relative, or put on a synced or shared folder. A
//     relative path only says where each machine looks for a file of its own: two
//     clones, two files. A synced folder copies the file sooner or later, and a
//     claim must be seen now; between two copies both machines have sent, and then
//     one copy overwrites the other, or lies beside it as a conflict, and the
//     record of what was sent is lost too. Locks do not travel with the copy.
//
//   - The config was copied over to the other machine. The config says what is to
//     be announced and where, not what has been. A second machine with the same
//     config and an empty ledger is exactly the one that announces everything
//     again.
//
// It also has no switch to turn it off, and its messages do not say which name
// would satisfy it: whoever copies a name out of an error message onto a second
// machine has removed the guard without knowing it.

import (
	"errors"
	"fmt"
	"strings"
)

// ErrRefused: the host guard does not let this machine write local state. Callers
// test for it with errors.Is.
var ErrRefused = errors.New("refused by the host guard")

// Guard lets local state be written only on the machine that owns it.
type Guard struct {
	// Owner is the value of FLEET_HOST, as it is set.
	Owner string
	// Hostname returns this machine's host name.
	Hostname func() (string, error)
}

// Check returns nil if this machine's host name is the owner's: the whole name,
// without regard to case. Otherwise it returns an error that wraps ErrRefused and
// says what to do: the owner is not set, is a name that identifies no machine, or
// is another machine, or this machine's own name is unknown or identifies none.
// The error names neither machine.
func (g Guard) Check() error {
	owner := strings.TrimSpace(g.Owner)
	if owner == "" {
		return refused("FLEET_HOST is not set")
	}
	if identifiesNothing(owner) {
		return refused("FLEET_HOST holds a name that many machines have")
	}
	if g.Hostname == nil {
		return refused("this machine's host name is not known")
	}
	own, err := g.Hostname()
	// The error is not passed on: it could carry the name.
	if err != nil {
		return refused("this machine's host name cannot be read")
	}
	own = strings.TrimSpace(own)
	if identifiesNothing(own) {
		return refused("this machine has no host name of its own")
	}
	if !strings.EqualFold(own, owner) {
		return refused("this machine is not the one that FLEET_HOST names")
	}
	return nil
}

func refused(why string) error {
	return fmt.Errorf("%w: %s; local state is written only on the one machine that owns it, and FLEET_HOST must be set to the owner's host name", ErrRefused, why)
}

// identifiesNothing reports whether a host name is one that any machine may have.
func identifiesNothing(name string) bool {
	name = strings.ToLower(strings.TrimRight(name, "."))
	first, _, _ := strings.Cut(name, ".")
	switch first {
	case "", "localhost", "localhost4", "localhost6", "ip6-localhost", "localdomain", "(none)":
		return true
	}
	return name == "127.0.0.1" || name == "::1" || name == "0.0.0.0"
}
