package firestore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"bot/dedupe"
	"bot/queue"

	"cloud.google.com/go/firestore"
)

// An article that may come under another address has a document of its own, named
// by its origin, with the IDs of its entries. It is written in the commit that
// creates an entry, on the condition that it is as it was read: so two machines
// that see one article under two addresses do not both take it for new. It only
// ever gains IDs. One whose entry is forgotten says nothing.

// fieldEntries are the IDs of the entries of one article, the newest last.
const fieldEntries = "entries"

// articles is what a call has read and decided of articles, by origin.
type articles map[dedupe.Origin]*article

// article is one article's document, as it was read, with the entries it names.
type article struct {
	snap    *firestore.DocumentSnapshot
	entries []queue.Entry
}

// findArticles reads what the ledger has of the articles of those candidates that
// were not found.
func (s *Store) findArticles(ctx context.Context, candidates []queue.Candidate, found map[string]queue.Known) (articles, error) {
	var origins []dedupe.Origin
	asked := make(map[dedupe.Origin]bool)
	for _, c := range candidates {
		if _, ok := first(c, found); ok {
			continue
		}
		for _, o := range c.Origins {
			if !asked[o] {
				asked[o] = true
				origins = append(origins, o)
			}
		}
	}
	all := make(articles, len(origins))
	return all, s.readArticles(ctx, origins, all)
}

// readArticles reads the documents of origins, and the entries they name.
func (s *Store) readArticles(ctx context.Context, origins []dedupe.Origin, into articles) error {
	if len(origins) == 0 {
		return nil
	}
	refs := make([]*firestore.DocumentRef, 0, len(origins))
	for _, o := range origins {
		refs = append(refs, s.origin(o))
	}
	snaps, err := s.getAll(ctx, refs)
	if err != nil {
		return err
	}
	var entries []*firestore.DocumentRef
	var of []dedupe.Origin // each of entries
	for i, snap := range snaps {
		a := &article{snap: snap}
		into[origins[i]] = a
		if !snap.Exists() {
			continue
		}
		if err := compareKey(snap, origins[i].String()); err != nil {
			return err
		}
		for _, id := range entriesOf(snap) {
			entries, of = append(entries, s.entry(id)), append(of, origins[i])
		}
	}
	snaps, err = s.getAll(ctx, entries)
	if err != nil {
		return err
	}
	for i, snap := range snaps {
		if !snap.Exists() {
			continue // it was forgotten
		}
		e, err := decode(snap)
		if err != nil {
			return err
		}
		if a := into[of[i]]; e.Origin() == of[i] {
			a.entries = append(a.entries, e)
		}
	}
	return nil
}

func entriesOf(snap *firestore.DocumentSnapshot) []string {
	if !snap.Exists() {
		return nil
	}
	list, _ := snap.Data()[fieldEntries].([]any)
	var all []string
	for _, one := range list {
		if id, ok := one.(string); ok {
			all = append(all, id)
		}
	}
	return all
}

// find tells what is known of the candidate's article under another address.
func (all articles) find(c queue.Candidate) (queue.Known, bool) {
	for _, o := range c.Origins {
		a := all[o]
		if a == nil {
			continue
		}
		for _, e := range a.entries {
			if e.ID != c.Entry.ID && queue.Renamed(e.Article.Published, c.Entry.Article.Published) {
				return queue.KnownAs(e, true), true
			}
		}
	}
	return queue.Known{}, false
}

// add notes a candidate that is new, for those after it in its call.
func (all articles) add(c queue.Candidate) {
	if a := all[c.Entry.Origin()]; a != nil {
		a.entries = append(a.entries, *c.Entry)
	}
}

// write adds to a commit what makes the entries known under their origins.
func (all articles) write(tx *firestore.Transaction, s *Store, chunk []creation) error {
	ids := make(map[dedupe.Origin][]string)
	var origins []dedupe.Origin
	for _, c := range chunk {
		if c.origin == (dedupe.Origin{}) {
			continue
		}
		if ids[c.origin] == nil {
			origins = append(origins, c.origin)
		}
		ids[c.origin] = append(ids[c.origin], c.id)
	}
	for _, o := range origins {
		a := all[o]
		var err error
		switch {
		case a == nil:
			err = tx.Set(s.origin(o), s.naming(o, ids[o]), firestore.MergeAll)
		case a.snap.Exists():
			had := slices.DeleteFunc(entriesOf(a.snap), func(id string) bool { return slices.Contains(ids[o], id) })
			err = tx.Update(a.snap.Ref, []firestore.Update{
				{Path: fieldEntries, Value: append(had, ids[o]...)},
			}, firestore.LastUpdateTime(a.snap.UpdateTime))
		default:
			err = tx.Create(a.snap.Ref, map[string]any{fieldVersion: version, fieldKey: keyOf(o), fieldEntries: ids[o]})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// naming returns what is to be merged into an origin's document, whatever it has.
func (s *Store) naming(o dedupe.Origin, ids []string) map[string]any {
	list := make([]any, 0, len(ids))
	for _, id := range ids {
		list = append(list, id)
	}
	return map[string]any{fieldVersion: version, fieldKey: keyOf(o), fieldEntries: firestore.ArrayUnion(list...)}
}

// keyOf is what an origin's document says that it is.
func keyOf(o dedupe.Origin) string { return strings.ToValidUTF8(o.String(), "\uFFFD") }

// overtaken looks again at articles that were new and whose entries could not be
// created. It returns those that still are, notes what somebody else made of the
// others, and says whether anything is otherwise than it was read before.
func (s *Store) overtaken(ctx context.Context, chunk []creation, all articles, inTheWay map[string]queue.Known) (rest []creation, other bool, err error) {
	var origins []dedupe.Origin
	for _, c := range chunk {
		if all[c.origin] != nil && !slices.Contains(origins, c.origin) {
			origins = append(origins, c.origin)
		}
	}
	now := make(articles, len(origins))
	if err := s.readArticles(ctx, origins, now); err != nil {
		return nil, false, err
	}
	for o, a := range now {
		other = other || changed(all[o].snap, a.snap)
		all[o] = a
	}
	for _, c := range chunk {
		k, known := now.find(queue.Candidate{Entry: &c.entry, Origins: []dedupe.Origin{c.origin}})
		if known {
			inTheWay[c.id] = k
			continue
		}
		rest = append(rest, c)
	}
	return rest, other, nil
}

// noteArticles makes entries known under their origins, whatever else is. It may be
// done again.
func (s *Store) noteArticles(ctx context.Context, entries []queue.Entry) error {
	var noted []creation
	for _, e := range entries {
		if o := e.Origin(); o != (dedupe.Origin{}) {
			noted = append(noted, creation{id: e.ID, origin: o})
		}
	}
	for chunk := range slices.Chunk(noted, insertChunk) {
		err := s.call(ctx, func(ctx context.Context) error {
			return s.client.RunTransaction(ctx, func(_ context.Context, tx *firestore.Transaction) error {
				return articles{}.write(tx, s, chunk)
			})
		})
		if err != nil {
			return fmt.Errorf("note guids: %w", s.failed(ctx, err))
		}
	}
	return nil
}

// unnoted says of each entry that is not known under its origin that it is not.
func (s *Store) unnoted(ctx context.Context, entries []queue.Entry) ([]string, error) {
	var noted []queue.Entry
	var refs []*firestore.DocumentRef
	for _, e := range entries {
		if o := e.Origin(); o != (dedupe.Origin{}) {
			noted, refs = append(noted, e), append(refs, s.origin(o))
		}
	}
	snaps, err := s.getAll(ctx, refs)
	if err != nil {
		return nil, err
	}
	var all []string
	for i, e := range noted {
		if !slices.Contains(entriesOf(snaps[i]), e.ID) {
			all = append(all, fmt.Sprintf("%s (%s): it is not known by its guid in Firestore", e.ID, e.Key))
		}
	}
	return all, nil
}

func (s *Store) origin(o dedupe.Origin) *firestore.DocumentRef {
	return s.fleet.Collection(originsCollection).Doc(o.ID())
}
