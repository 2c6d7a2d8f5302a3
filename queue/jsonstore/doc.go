// Package jsonstore keeps the ledger in a directory of JSON files that people can
// read:
//
//	posted.json       the entries that are done, oldest first
//	queue.json        the entries that are not
//	bookkeeping.json  the small records
//	journal.jsonl     what changed since these were written
//	ledger.json       what this ledger is
//	.lock             the lock
//
// While commands run, every change is one line appended to the journal. When a
// command ends it folds the journal into the three files. They are replaced, each
// by a rename, before the journal is, so that a crash between any two steps leaves
// a journal whose lines, applied again, change nothing.
//
// posted.json grows for ever, so it is never loaded: what is looked for, which is
// little, goes into a table, and the file is streamed past it. Memory does not grow
// with history.
//
// Any number of processes on one machine may use a directory at the same time.
package jsonstore
