package jsonstore

import (
	"context"
	"errors"

	"bot/dedupe"
	"bot/queue"
)

// step is what with does on the ledger.
type step struct {
	// wants are looked for in posted.json first.
	wants []want
	// apply works on the view. answer gives what posted.json has of a want.
	apply func(b *batch, answer func(id string) *hit) error
	// after runs when the batch is written, still under the lock. Nil: nothing.
	after func() error
}

// with runs a step under the lock, when posted.json has been searched for all the
// step wants. The search itself, which takes time, is made without the lock: if
// posted.json is another by the time the lock is held, it is made again.
func (s *Store) with(ctx context.Context, st step) error {
	const patience = 3
	var found *history
	defer func() { found.close() }()
	for try := 0; ; try++ {
		var search bool
		var lack []want
		o := &op{after: st.after}
		o.apply = func(b *batch) error {
			var err error
			search, lack, err = s.prepare(found, st.wants)
			found = nil
			if err == nil && search && try >= patience {
				// Others change it all the time, so this is done under their noses.
				if found, err = s.search(context.WithoutCancel(ctx), lack); err == nil {
					search, lack, err = s.prepare(found, st.wants)
					found = nil
				}
			}
			if err != nil || search {
				o.after = nil
				return err
			}
			return st.apply(b, func(id string) *hit { return s.history.answers[id] })
		}
		if err := s.do(ctx, o); err != nil || !search {
			return err
		}
		var err error
		if found, err = s.search(ctx, lack); err != nil {
			return err
		}
	}
}

// search looks for wants in posted.json.
func (s *Store) search(ctx context.Context, wants []want) (*history, error) {
	var found *history
	var err error
	if s.readOnly {
		if found, err = scanOpen(ctx, s.history.file, s.files.posted, wants); err == nil {
			found.file = nil // it is s.history's
		}
	} else {
		found, err = scanHistory(ctx, s.files.posted, wants)
	}
	_, unreadable := errors.AsType[*FileError](err)
	s.unreadable.Store(unreadable)
	return found, err
}

// prepare takes in what a search found, settles the view with it, and says
// whether a search is needed, and for what.
func (s *Store) prepare(found *history, wants []want) (search bool, lack []want, err error) {
	if err := s.takeIn(found, wants); err != nil {
		return false, nil, err
	}
	lack = s.history.lacking(wants)
	search = len(lack) > 0
	if s.settled() {
		s.wasSettled = true
		return search, lack, nil
	}
	unsettled := s.history.lacking(s.needed())
	if len(unsettled) > 0 || !s.history.checked {
		return true, append(lack, unsettled...), nil
	}
	if err := s.verify(); err != nil {
		s.unreadable.Store(true)
		return false, nil, err
	}
	if err := s.settle(); err != nil {
		return false, nil, err
	}
	s.wasSettled = true
	return search, lack, nil
}

// takeIn makes what a search found a part of what is known of posted.json, if it
// is still the same file. wants are what is asked for now.
func (s *Store) takeIn(found *history, wants []want) error {
	now, err := s.postedNow()
	if err != nil {
		found.close()
		return err
	}
	if s.history == nil || s.history.id != now {
		s.history.close()
		s.history = newHistory(now, nil, 0)
	}
	if found == nil {
		return nil
	}
	if found.id != now {
		found.close()
		return nil
	}
	s.history.add(found, func() []want { return append(s.needed(), wants...) })
	if s.history.file == nil {
		s.history.file = found.file
	} else {
		found.close()
	}
	return nil
}

// postedNow returns the version of posted.json that counts.
func (s *Store) postedNow() (identity, error) {
	if s.readOnly {
		return s.history.id, nil
	}
	now, err := statFull(s.files.posted)
	if err != nil {
		return now, absentOr(err, s.files.posted)
	}
	return now, nil
}

// settled reports whether the two arrays are known to have no entry in common that
// the view does not know of.
func (s *Store) settled() bool {
	if s.base.stands(base{Posted: s.history.id.stand(), Queue: s.queueID.stand()}) {
		return true
	}
	return s.settledFor.posted == s.history.id && s.settledFor.queue == s.queueID
}

// needed is what has to be known of posted.json before the view is settled.
func (s *Store) needed() []want { return append(s.overlap(), s.base.Marks.all()...) }

// overlap are the entries of the view that posted.json may have as well: after a
// crash in a fold, and where somebody else wrote the files.
func (s *Store) overlap() []want {
	all := make([]want, 0, len(s.view.order))
	for _, slot := range s.view.order {
		i := slot.item
		if !i.live() || i.over || i.posted {
			continue
		}
		all = append(all, want{id: i.id, key: i.entry.Key, whole: true})
		if suspect(i) {
			all = append(all, wantKey(i.entry.Key.URLOnly()))
		}
	}
	return all
}

func wantKey(k dedupe.Key) want { return want{id: k.ID(), key: k} }

// settle lets posted.json have the last word on the entries that it and the view
// have in common: what is announced is not sent again.
func (s *Store) settle() error {
	for _, slot := range s.view.order {
		i := slot.item
		if !i.live() || i.over || i.posted {
			continue
		}
		if h := s.history.answers[i.id]; h != nil {
			e, err := queue.ParseRecord(h.raw, queue.InPosted)
			if err != nil {
				return err
			}
			s.view.put(&item{id: i.id, raw: h.raw, entry: e, posted: true})
			s.unwritten = true
			continue
		}
		if suspect(i) && s.history.answers[i.entry.Key.URLOnly().ID()] != nil {
			e := i.entry
			e.Status = queue.Held
			e.Reason = "its address was announced before destinations were recorded; release it if this destination has not had it"
			s.view.put(&item{id: i.id, entry: e})
			s.unwritten = true
		}
	}
	s.settledFor.posted, s.settledFor.queue = s.history.id, s.queueID
	return nil
}

// suspect reports whether an entry comes from an earlier bot's queue and could
// have been announced by one earlier still, which recorded addresses only.
func suspect(i *item) bool {
	return i.queued && i.entry.Status == queue.Queued && i.entry.QueuedAt.IsZero() &&
		i.entry.Key.Bucket == "" && !i.entry.URLOnly()
}
