package firestore

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"bot/queue"
)

// maxCached is how many entries a cache remembers.
const maxCached = 200_000

// cache remembers which entries are at rest in the ledger. That an entry is there
// never reverts, but by Delete, which begins a new epoch: a cache of another epoch,
// or of another ledger, is thrown away. The nil cache knows nothing.
type cache struct {
	path string
	mu   sync.Mutex
	head cacheHead
	ids  map[string]cacheLine
	// fresh tells that there is something to save.
	fresh bool
}

type cacheHead struct {
	Ledger string `json:"ledger"`
	Fleet  string `json:"fleet"`
	Epoch  int64  `json:"epoch"`
}

type cacheLine struct {
	ID      string       `json:"id"`
	Status  queue.Status `json:"status"`
	Rule    string       `json:"rule,omitempty"`
	URLOnly bool         `json:"url_only,omitempty"`
}

// openCache reads the cache at path. One that cannot be read knows nothing: it only
// saves reads.
func openCache(path, place string, f Fleet) *cache {
	if path == "" || f.ID == "" {
		return nil
	}
	c := &cache{path: path, head: cacheHead{place, f.ID, f.Epoch}, ids: make(map[string]cacheLine)}
	data, err := os.ReadFile(path)
	if err != nil {
		return c
	}
	lines := json.NewDecoder(bytes.NewReader(data))
	var head cacheHead
	if lines.Decode(&head) != nil || head != c.head {
		return c
	}
	for {
		var l cacheLine
		if lines.Decode(&l) != nil {
			return c
		}
		if l.ID != "" && l.Status.Final() {
			c.ids[l.ID] = l
		}
	}
}

func (c *cache) get(id string) (queue.Known, bool) {
	if c == nil {
		return queue.Known{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l, ok := c.ids[id]
	return queue.Known{ID: l.ID, Status: l.Status, Rule: l.Rule, URLOnly: l.URLOnly}, ok
}

// add remembers an entry that was read, if it is at rest.
func (c *cache) add(k queue.Known) {
	if c == nil || !k.Status.Final() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ids) >= maxCached {
		return
	}
	c.ids[k.ID] = cacheLine{k.ID, k.Status, k.Rule, k.URLOnly}
	c.fresh = true
}

// drop forgets what is known of an entry, since it changes.
func (c *cache) drop(id string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.ids[id]; ok {
		delete(c.ids, id)
		c.fresh = true
	}
}

// clear forgets everything, as the ledger is in another epoch.
func (c *cache) clear(f Fleet) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.head.Epoch, c.ids, c.fresh = f.Epoch, make(map[string]cacheLine), true
}

// save writes the cache, in one step. It keeps what another process saved or not:
// it is only a cache.
func (c *cache) save() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.fresh {
		return nil
	}
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	err := lines.Encode(c.head)
	for _, l := range c.ids {
		err = errors.Join(err, lines.Encode(l))
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return nil //nolint:nilerr // without a place for it there is no cache
	}
	f, err := os.CreateTemp(filepath.Dir(c.path), ".cache-*")
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return nil
}
