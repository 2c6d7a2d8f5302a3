package jsonstore

import (
	"slices"

	"bot/queue"
)

// view is what is kept in memory: the records of queue.json with the journal's
// events upon them, and the small records. Of posted.json it holds nothing but
// what the journal says of its entries.
type view struct {
	slots map[string]*slot
	// order is every slot as it came, so that queue.json keeps its order.
	order []*slot
	books map[string][]byte
}

// slot is the place of one entry, with what is known of it now.
type slot struct{ *item }

// item is what the view knows of one entry. It is not changed once it is in the
// view: what becomes of it is another item.
type item struct {
	id string
	// entry is what is known. Zero if it is forgotten.
	entry queue.Entry
	// raw is the record as it stands in one of the two arrays. Nil: it is to be made
	// of the entry.
	raw []byte
	// forgotten: there is no such entry, whatever posted.json says.
	forgotten bool
	// doubles are further records with this ID in queue.json, which say nothing new
	// and are kept until the entry changes.
	doubles [][]byte
	// queued: raw stands in queue.json as it is.
	queued bool
	// over: posted.json may hold an older record of it, which no longer counts.
	over bool
	// posted: raw is the record of posted.json, which says that the entry is done,
	// whatever queue.json says.
	posted bool
	// slot is where it stands. Nil: in none yet.
	slot *slot
}

func (i *item) live() bool { return i != nil && !i.forgotten }

func newView() *view {
	return &view{slots: map[string]*slot{}, books: map[string][]byte{}}
}

// item returns what is known of an entry. Nil: nothing.
func (v *view) item(id string) *item {
	if s := v.slots[id]; s != nil {
		return s.item
	}
	return nil
}

// put sets what is known of an entry.
func (v *view) put(i *item) {
	if i.slot == nil {
		if i.slot = v.slots[i.id]; i.slot == nil {
			i.slot = &slot{}
			v.slots[i.id] = i.slot
			v.order = append(v.order, i.slot)
		}
	}
	i.slot.item = i
}

// putBook sets a small record. Nil forgets it.
func (v *view) putBook(name string, value []byte) {
	if value == nil {
		delete(v.books, name)
		return
	}
	v.books[name] = value
}

// record returns the entry's record.
func (i *item) record() ([]byte, error) {
	if i.raw != nil {
		return i.raw, nil
	}
	return queue.MarshalRecord(i.entry)
}

// successor returns the item that comes after old, which may be nil, by an event.
// over says that posted.json has an older record.
func successor(old *item, id string, over bool) *item {
	next := &item{id: id, over: over}
	if old != nil {
		next.slot = old.slot
		next.over = over || old.over || old.posted
	}
	return next
}

// clone returns an entry that shares nothing with e that could be changed.
func clone(e *queue.Entry) queue.Entry {
	c := *e
	c.Article.Categories = slices.Clone(e.Article.Categories)
	c.Message.Body = slices.Clone(e.Message.Body)
	c.Extra = slices.Clone(e.Extra)
	return c
}
