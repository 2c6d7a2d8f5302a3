package jsonstore

import (
	"slices"

	"bot/queue"
)

// batch is what a group of steps makes of the view. Steps see what the steps
// before them in the batch did.
type batch struct {
	s *Store
	// kept is what the steps did that went well; step is the one that runs now.
	kept, step changes
}

// changes are events, and what they make of the view.
type changes struct {
	events []change
	// items finds the newest change of each entry, once there are more than a few.
	items map[string]*item
	// sync: they have to be on the disk before they count as done.
	sync bool
}

// change is an event with the item it makes. Nil if it is not an entry's.
type change struct {
	event
	item *item
}

// few is how many changes are looked through one by one.
const few = 8

func (c *changes) add(e event, i *item) {
	c.events = append(c.events, change{e, i})
	switch {
	case len(c.events) <= few:
	case c.items == nil:
		c.items = make(map[string]*item)
		for _, one := range c.events {
			c.index(one.item)
		}
	default:
		c.index(i)
	}
}

func (c *changes) index(i *item) {
	if i != nil {
		c.items[i.id] = i
	}
}

// item returns what the changes make of an entry. Nil: they do not touch it.
func (c *changes) item(id string) *item {
	if c.items != nil {
		return c.items[id]
	}
	for n := len(c.events) - 1; n >= 0; n-- {
		if i := c.events[n].item; i != nil && i.id == id {
			return i
		}
	}
	return nil
}

// book returns what the changes make of a small record.
func (c *changes) book(name string) (value []byte, ok bool) {
	for n := len(c.events) - 1; n >= 0; n-- {
		if e := &c.events[n]; e.kind == aBook && e.name == name {
			return e.value, true
		}
	}
	return nil, false
}

// item returns what is known of an entry beside posted.json. Nil: nothing.
func (b *batch) item(id string) *item {
	if i := b.step.item(id); i != nil {
		return i
	}
	if i := b.kept.item(id); i != nil {
		return i
	}
	return b.s.view.item(id)
}

// each visits what is known of every entry beside posted.json, by the steps before
// this one.
func (b *batch) each(visit func(*item)) {
	for _, slot := range b.s.view.order {
		i := slot.item
		if changed := b.kept.item(i.id); changed != nil {
			i = changed
		}
		visit(i)
	}
	for _, c := range b.kept.events {
		if c.item != nil && b.s.view.item(c.item.id) == nil && b.kept.item(c.item.id) == c.item {
			visit(c.item)
		}
	}
}

// book returns a small record. Nil: there is none.
func (b *batch) book(name string) []byte {
	if value, ok := b.step.book(name); ok {
		return value
	}
	if value, ok := b.kept.book(name); ok {
		return value
	}
	return b.s.view.books[name]
}

// room is for one record, as most are, in bytes.
const room = 4 << 10

// put records what becomes of an entry. over says that posted.json has an older
// record of it.
func (b *batch) put(e *queue.Entry, over bool) (*item, error) {
	next := successor(b.item(e.ID), e.ID, over)
	next.entry = clone(e)
	if n := len(b.s.records); n > 0 && cap(b.s.records)-n < room {
		// To grow would be to copy what is there, which the records before hold as it is.
		b.s.records = make([]byte, 0, 16*room)
	}
	start := len(b.s.records)
	var err error
	if b.s.records, err = queue.AppendRecord(b.s.records, &next.entry); err != nil {
		return nil, err
	}
	// Should records grow into another array, this one stays.
	record := b.s.records[start:len(b.s.records):len(b.s.records)]
	b.step.add(event{kind: anEntry, value: record, over: next.over}, next)
	b.step.sync = b.step.sync || e.Status == queue.Sending
	return next, nil
}

// forget records that an entry is forgotten.
func (b *batch) forget(id string, over bool) {
	next := successor(b.item(id), id, over)
	next.forgotten = true
	b.step.add(event{kind: aForgotten, name: id, over: next.over}, next)
}

// putBook records a small record. Nil forgets it.
func (b *batch) putBook(name string, value []byte) {
	b.step.add(event{kind: aBook, name: name, value: value}, nil)
}

// mustSync asks that all the step did is on the disk before it counts as done.
func (b *batch) mustSync() { b.step.sync = true }

func (b *batch) dropStep() { b.step = changes{} }

func (b *batch) keepStep() {
	if len(b.kept.events) == 0 {
		b.kept, b.step = b.step, changes{}
		return
	}
	for _, c := range b.step.events {
		b.kept.add(c.event, c.item)
	}
	b.kept.sync = b.kept.sync || b.step.sync
	b.step = changes{}
}

// aroundValue is about how much a line has beside its value, in bytes.
const aroundValue = 64

// write appends the batch's events to the journal, and then to the view.
func (b *batch) write() error {
	if len(b.kept.events) == 0 {
		return nil
	}
	s := b.s
	if err := s.adopt(); err != nil {
		return err
	}
	size := 0
	for _, c := range b.kept.events {
		size += len(c.value) + len(c.name) + aroundValue
	}
	buf, durable := slices.Grow(reuse(s.lines), size), s.journal.onDisk()
	for i, c := range b.kept.events {
		c.n, c.durable = s.journal.next+int64(i), durable
		var err error
		if buf, err = appendLine(buf, c.event); err != nil {
			return err
		}
	}
	s.lines = buf
	if err := s.journal.append(buf, int64(len(b.kept.events))); err != nil {
		return err
	}
	for _, c := range b.kept.events {
		if c.item != nil {
			s.view.put(c.item)
		} else {
			s.view.putBook(c.name, c.value)
		}
	}
	return nil
}
