package firestore

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"bot/queue"

	"cloud.google.com/go/firestore"
)

// The fields of a document.
const (
	fieldVersion = "v"
	// fieldKey is the readable key, or a small record's name.
	fieldKey    = "key"
	fieldStatus = "status"
	// fieldRecord is the record as JSON, the same as in an export. A long one is in
	// fieldPacked instead, compressed with gzip.
	fieldRecord = "record"
	fieldPacked = "packed"
	// fieldDue is when the entry next needs attention. Absent: never by itself.
	fieldDue = "due"
	// fieldWaiting is the document's name while the entry is not final, else absent.
	fieldWaiting = "waiting"
	// fieldMade and fieldWrite are the tokens of the first and of the last write.
	fieldMade  = "made"
	fieldWrite = "write"
	// fieldWrites are the tokens of a small record's last writes, the last one last.
	fieldWrites = "writes"
)

const (
	version = 1
	// longRecord is the size in bytes from which a record is compressed. Firestore
	// takes documents of up to 1 MiB.
	longRecord = 64 << 10
	maxRecord  = 1_000_000
	// maxUnpacked bounds what is read back.
	maxUnpacked = 256 << 20
)

// docName makes a document's name of an ID or a small record's name. Firestore
// refuses slashes, dots alone, names like __x__ and more than 1500 bytes.
func docName(id string) string {
	plain := id != "" && len(id) <= 128 && !strings.HasPrefix(id, "_") && strings.Trim(id,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
	if plain {
		return id
	}
	if escaped := strings.ReplaceAll(id, "/", "|"); len(escaped) <= 128 && strings.Trim(escaped,
		"abcdefghijklmnopqrstuvwxyz0123456789-_|") == "" && !strings.HasPrefix(escaped, "_") && escaped != "" && !strings.Contains(id, "|") {
		return escaped
	}
	sum := sha256.Sum256([]byte(id))
	return "sha256:" + hex.EncodeToString(sum[:20])
}

// document is what an entry's document holds.
type document struct {
	key, status string
	record      []byte
	packed      bool
	fields      map[string]any
}

// size is about how many bytes the document takes on the way.
func (d document) size() int { return len(d.record) + len(d.key) + 512 }

// encode makes an entry's document with this write's token.
func encode(e queue.Entry, token string) (document, error) {
	record, err := queue.MarshalRecord(e)
	if err != nil {
		return document{}, err
	}
	d := document{key: e.Key.String(), status: string(e.Status), record: record}
	d.fields = map[string]any{
		fieldVersion: version, fieldKey: strings.ToValidUTF8(d.key, "\uFFFD"), fieldStatus: d.status, fieldWrite: token,
	}
	if len(record) <= longRecord {
		d.fields[fieldRecord] = string(record)
	} else {
		if d.record, err = pack(record); err != nil {
			return document{}, err
		}
		if len(d.record) > maxRecord {
			return document{}, fmt.Errorf("entry %s is too large for a Firestore document: %d bytes compressed", e.ID, len(d.record))
		}
		d.packed = true
		d.fields[fieldPacked] = d.record
	}
	if due := e.Due(); !due.IsZero() {
		d.fields[fieldDue] = due
	}
	if !e.Status.Final() {
		d.fields[fieldWaiting] = docName(e.ID)
	}
	return d, nil
}

// made returns the fields of a document that is created.
func (d document) made(token string) map[string]any {
	d.fields[fieldMade] = token
	return d.fields
}

// updates returns the document as an update of the whole, what is absent deleted.
func (d document) updates() []firestore.Update {
	var all []firestore.Update
	for _, name := range []string{fieldVersion, fieldKey, fieldStatus, fieldWrite, fieldRecord, fieldPacked, fieldDue, fieldWaiting} {
		value, ok := d.fields[name]
		if !ok {
			value = firestore.Delete
		}
		all = append(all, firestore.Update{Path: name, Value: value})
	}
	return all
}

func pack(record []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(record); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	record, err := io.ReadAll(io.LimitReader(r, maxUnpacked))
	return record, errors.Join(err, r.Close())
}

func text(snap *firestore.DocumentSnapshot, field string) string {
	value, _ := snap.Data()[field].(string)
	return value
}

// decode reads an entry's document, and compares the key it says it has with its
// entry's.
func decode(snap *firestore.DocumentSnapshot) (queue.Entry, error) {
	data := snap.Data()
	if v, ok := data[fieldVersion].(int64); !ok || v != version {
		return queue.Entry{}, fmt.Errorf("document %s is of version %v, and this program knows version %d: use a newer bot", snap.Ref.Path, data[fieldVersion], version)
	}
	record := []byte(text(snap, fieldRecord))
	if packed, ok := data[fieldPacked].([]byte); ok {
		var err error
		if record, err = unpack(packed); err != nil {
			return queue.Entry{}, fmt.Errorf("document %s: %w", snap.Ref.Path, err)
		}
	}
	e, err := queue.ParseRecord(record, queue.Status(text(snap, fieldStatus)).Final())
	if err != nil {
		return queue.Entry{}, fmt.Errorf("document %s: %w", snap.Ref.Path, err)
	}
	if err := compareKey(snap, e.Key.String()); err != nil {
		return queue.Entry{}, err
	}
	if docName(e.ID) != snap.Ref.ID {
		return queue.Entry{}, fmt.Errorf("document %s: %w: its entry is %s", snap.Ref.Path, errOtherKey, e.ID)
	}
	return e, nil
}

// compareKey returns an error unless the document's key is this one.
func compareKey(snap *firestore.DocumentSnapshot, key string) error {
	if has := text(snap, fieldKey); has != strings.ToValidUTF8(key, "\uFFFD") {
		return fmt.Errorf("document %s: %w: %s, not %s", snap.Ref.Path, errOtherKey, has, key)
	}
	return nil
}

func knownOf(e queue.Entry) queue.Known { return queue.KnownAs(e, false) }
