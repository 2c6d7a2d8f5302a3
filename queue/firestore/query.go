package firestore

import (
	"time"

	"cloud.google.com/go/firestore"
)

// Every query is made here, and filters and orders by one field only. For those
// Firestore makes the index by itself. A query on two needs an index that somebody
// has to create, and the emulator, which answers any query, would never say so.

// pageSize is how many documents one call of a query reads at most.
const pageSize = 300

// dueQuery asks for the entries due by a time, earliest first.
func dueQuery(entries *firestore.CollectionRef, until time.Time) firestore.Query {
	return entries.Where(fieldDue, "<=", until).OrderBy(fieldDue, firestore.Asc)
}

// waitingQuery asks for the entries that are not final.
func waitingQuery(entries *firestore.CollectionRef) firestore.Query {
	return entries.OrderBy(fieldWaiting, firestore.Asc)
}

// allQuery asks for every document, in the order of names.
func allQuery(documents *firestore.CollectionRef) firestore.Query {
	return documents.OrderBy(firestore.DocumentID, firestore.Asc)
}
