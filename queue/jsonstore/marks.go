package jsonstore

import (
	"fmt"
	"path/filepath"

	"bot/queue"
)

// marks are what the two arrays must still hold, however they were edited since this
// program last wrote them. They tell an edit from another file in the same place: an
// older copy of it, or another ledger's. What was announced, or may have been, is
// unknown to such a file, and would be announced again.
type marks struct {
	// Posted is the ID of the newest record of posted.json, and Queue of the last one
	// of queue.json. Empty: there is none that is known.
	Posted string `json:"posted,omitzero"`
	Queue  string `json:"queue,omitzero"`
	// Sent are the entries of queue.json that may have gone out, so that they must not
	// be sent again.
	Sent []string `json:"sent,omitzero"`
}

// marks returns the marks of the two arrays as a fold leaves them. Where it left
// posted.json alone, that one keeps its own.
func (s *Store) marks(folded bool) marks {
	m := marks{Posted: s.base.Marks.Posted}
	for _, slot := range s.view.order {
		i := slot.item
		if folded && i.over && i.id == m.Posted {
			m.Posted = ""
		}
		switch {
		case !i.live() || i.posted:
		case i.entry.Status.Final() && !i.queued:
			if folded {
				m.Posted = i.id
			}
		default:
			m.Queue = i.id
			if mayBeOut(i.entry) {
				m.Sent = append(m.Sent, i.id)
			}
		}
	}
	return m
}

func mayBeOut(e queue.Entry) bool { return e.Status == queue.Sending || e.Status == queue.Uncertain }

// all returns the marks as what is looked for in posted.json, where somebody may have
// moved a record by hand.
func (m marks) all() []want {
	var wants []want
	for _, id := range append([]string{m.Posted, m.Queue}, m.Sent...) {
		if id != "" {
			wants = append(wants, want{id: id})
		}
	}
	return wants
}

// verify returns an error if one of the two arrays lacks what it was left with. It is
// called when posted.json has been searched for all marks, before the view is
// settled.
func (s *Store) verify() error {
	m := s.base.Marks
	if m.Posted != "" && !s.accounted(m.Posted) {
		return replaced(s.files.posted, "it lacks the record that was written to it last, "+m.Posted,
			"To take out what was announced, there is `bot posted forget`")
	}
	if i := s.view.item(m.Queue); m.Queue != "" && i == nil && !s.accounted(m.Queue) {
		return replaced(s.files.queue, "it lacks its last record, "+m.Queue, "To take out what waits, there is `bot queue cancel`")
	}
	for _, id := range m.Sent {
		i := s.view.item(id)
		switch {
		case i == nil && !s.accounted(id):
			return replaced(s.files.queue, fmt.Sprintf("it lacks %s, which may have been announced", id), "To decide on that one, there is `bot resolve`")
		case i != nil && i.queued && i.entry.Status == queue.Queued && s.history.answers[id] == nil:
			return replaced(s.files.queue, fmt.Sprintf("it would send %s again, which may have been announced", id), "To decide on that one, there is `bot resolve`")
		}
	}
	return nil
}

// accounted reports whether an entry is in posted.json, or the journal says what
// became of it.
func (s *Store) accounted(id string) bool {
	i := s.view.item(id)
	return i != nil && !i.queued || s.history.answers[id] != nil
}

// replaced is the error for another file in the place of one of the two arrays.
func replaced(path, lacks, instead string) *FileError {
	return fileErrorf(path, -1, "%s: this is an older copy, or another ledger's. Put the newest %s back, or see docs/local-state.md. %s",
		lacks, filepath.Base(path), instead)
}
