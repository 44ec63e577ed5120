package pgstore

import (
	"context"
	"math"
	"strings"
	"unicode"

	"scripter/objectdb"
)

func (c *session) Scan(ctx context.Context, s objectdb.Scan, fn func(objectdb.Row) error) (int64, error) {
	last, err := c.lastOf(ctx, s)
	if err != nil {
		return 0, err
	}
	return last, c.soundRows(ctx, fn, sqlScan, scanArgs(s, last)...)
}

// lastOf returns the last id that a scan looks at. It counts present objects: in the past there are others between
// them.
func (c *session) lastOf(ctx context.Context, s objectdb.Scan) (last int64, err error) {
	n := 0
	if err := c.scan(ctx, []any{&last, &n}, sqlScanEnd, s.After, s.N); err != nil {
		return 0, err
	}
	if n < s.N {
		return math.MaxInt64, nil
	}
	return last, nil
}

// scanArgs are the arguments of sqlScan.
func scanArgs(s objectdb.Scan, last int64) []any {
	if s.Text == "" {
		return []any{s.After, last, []byte(s.Name), "", "", int64(-1)}
	}
	quoted := string(objectdb.AppendJSON(nil, objectdb.String(s.Text)))
	return []any{s.After, last, []byte(s.Name), pattern(s.Text), pattern(quoted[1 : len(quoted)-1]), objectdb.ScannedValue}
}

// pattern returns a regular expression of PostgreSQL's that finds text whatever its case is. It does not rely on what
// the server takes for the case of a letter.
func pattern(text string) string {
	if !isText(text) {
		return `(?!)` // no column of type text has it
	}
	var b strings.Builder
	for _, r := range text {
		fold := unicode.SimpleFold(r)
		switch {
		case fold != r:
			b.WriteByte('[')
			for ; fold != r; fold = unicode.SimpleFold(fold) {
				b.WriteRune(fold)
			}
			b.WriteRune(r)
			b.WriteByte(']')
		case strings.ContainsRune(`.^$*+?()[]{}|\`, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (c *session) CountIDs(ctx context.Context, after, last int64) (int64, error) {
	return c.number(ctx, sqlCountIDs, after, last)
}
