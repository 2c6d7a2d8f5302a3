// Command bot announces new articles once per account, on schedule.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"bot/cmd"
)

func main() {
	if os.Getenv("GOGC") == "" {
		// A run is short, and holds little of what it makes: to collect garbage as often
		// as Go does by itself costs it more time than memory.
		debug.SetGCPercent(400)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second interrupt ends the program at once, even in the middle of a send.
	context.AfterFunc(ctx, stop)
	code := cmd.Run(ctx, cmd.System())
	stop()
	os.Exit(code)
}
