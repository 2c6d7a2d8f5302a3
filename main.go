// Command bot announces new articles once per account, on schedule.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"bot/cmd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second interrupt ends the program at once, even in the middle of a send.
	context.AfterFunc(ctx, stop)
	code := cmd.Run(ctx, cmd.System())
	stop()
	os.Exit(code)
}
