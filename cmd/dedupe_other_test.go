//go:build !linux

package cmd_test

import "testing"

// mountedReadOnly tells that it cannot be done here.
func mountedReadOnly(*testing.T, string) bool { return false }

func playFullDisk(t *testing.T, _ dedupeCase, _ dedupeWant) {
	t.Skip("a small disk cannot be mounted here")
}
