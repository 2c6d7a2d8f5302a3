//go:build unix && !linux

package jsonstore_test

import "testing"

func smallDisk(t *testing.T, _ int) string {
	t.Skip("a small disk is mounted on Linux only")
	return ""
}

func growDisk(string, int) error { return nil }
