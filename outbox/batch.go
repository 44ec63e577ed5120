package outbox

import (
	"fmt"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/site"
)

// maxBatch is how many rows the scripts of one request may write.
const maxBatch = 1000

// A Batch is what the scripts of one run write into the outbox. The zero value is an empty one.
type Batch struct{ rows int }

// A Host is a host of scripts that may write into the outbox: see [script.Thread.Host].
type Host interface {
	Batch() *Batch
	Reach() site.Reach
	Site() *site.Snapshot
}

// Add is [Add] within the limits of the site.
func (b *Batch) Add(
	tx *objectdb.Tx, s *site.Snapshot, now time.Time, r Row, cells map[string]objectdb.Value,
) (key string, err error) {
	if b.rows++; b.rows > maxBatch {
		return "", fmt.Errorf("one request can write %d rows into the outbox", maxBatch)
	}
	for _, v := range cells {
		r.Size += size(v)
	}
	if most := s.Number(site.MaxMail); float64(r.Size) > most*(1<<20) {
		return "", fmt.Errorf("it has %d bytes, more than %v MB (user.webserver.maxMail)", r.Size, most)
	}
	r.From = strings.TrimSpace(tx.Origin.Why + " " + tx.Origin.Path)
	return Add(tx, now, r, cells)
}

// size returns about how many bytes a value takes.
func size(v objectdb.Value) int {
	switch v := v.(type) {
	case objectdb.String:
		return len(v)
	case objectdb.Binary:
		return len(v.Data)
	}
	return len(objectdb.AppendJSON(nil, v))
}
