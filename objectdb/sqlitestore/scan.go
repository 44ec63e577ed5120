package sqlitestore

import (
	"context"
	"database/sql/driver"
	"math"
	"strings"
	"unicode"

	"scripter/objectdb"
)

func (c *conn) Scan(_ context.Context, s objectdb.Scan, fn func(objectdb.Row) error) (int64, error) {
	last, err := c.lastOf(s)
	if err != nil {
		return 0, err
	}
	return last, c.soundRows(fn, sqlScan, scanArgs(s, last)...)
}

func (p *pastSession) Scan(_ context.Context, s objectdb.Scan, fn func(objectdb.Row) error) (int64, error) {
	last, err := p.lastOf(s)
	if err != nil {
		return 0, err
	}
	return last, p.soundRows(fn, sqlScanAt, append(scanArgs(s, last), p.generation)...)
}

// lastOf returns the last id that a scan looks at. It counts present objects: in the past there are others
// between them.
func (c *conn) lastOf(s objectdb.Scan) (int64, error) {
	var row [2]driver.Value
	if err := c.one(row[:], sqlScanEnd, s.After, int64(s.N)); err != nil {
		return 0, err
	}
	last, _ := row[0].(int64)
	if n, _ := row[1].(int64); n < int64(s.N) {
		return math.MaxInt64, nil
	}
	return last, nil
}

// scanArgs are the arguments of sqlScan.
func scanArgs(s objectdb.Scan, last int64) []driver.Value {
	if s.Text == "" {
		return []driver.Value{s.After, last, s.Name, nil, nil, int64(-1)}
	}
	quoted := string(objectdb.AppendJSON(nil, objectdb.String(s.Text)))
	return []driver.Value{s.After, last, s.Name, globPattern(s.Text), globPattern(quoted[1 : len(quoted)-1]),
		objectdb.ScannedValue}
}

// globPattern returns a pattern for GLOB, which knows no case, that finds text whatever its case is.
func globPattern(text string) string {
	var b strings.Builder
	b.WriteByte('*')
	for _, r := range text {
		fold := unicode.SimpleFold(r)
		if fold == r && r != '*' && r != '?' && r != '[' {
			b.WriteRune(r)
			continue
		}
		b.WriteByte('[')
		for ; fold != r; fold = unicode.SimpleFold(fold) {
			b.WriteRune(fold)
		}
		b.WriteRune(r)
		b.WriteByte(']')
	}
	b.WriteByte('*')
	return b.String()
}

func (c *conn) CountIDs(_ context.Context, after, last int64) (int64, error) {
	n, err := c.count(sqlCountIDs, after, last)
	return int64(n), err
}

func (p *pastSession) CountIDs(_ context.Context, after, last int64) (int64, error) {
	n, err := p.count(sqlCountIDsAt, after, last, p.generation)
	return int64(n), err
}
