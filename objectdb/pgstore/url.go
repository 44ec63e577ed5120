package pgstore

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"scripter/rootname"
)

const (
	maxSchema    = 63 // PostgreSQL cuts off longer names
	defaultConns = 16
)

// defaults are the parameters that apply if a URL does not have them. A connection is given up after
// connect_timeout seconds.
var defaults = map[string]string{
	"pool_max_conns":   strconv.Itoa(defaultConns),
	"application_name": "scripter",
	"connect_timeout":  "5",
}

// place says where a root is.
type place struct {
	shown   string // the URL without the password
	schema  string
	strict  bool // no transaction begins with a state that is not the newest
	decided bool // the URL says whether statements have names, see pooling
	config  *pgxpool.Config
}

// parseURL reads the URL of a root. Its errors do not quote it, because it may have a password.
func parseURL(root string) (*place, error) {
	if !rootname.IsURL(root) {
		return nil, errors.New("it is not a URL that begins with postgres://")
	}
	u, err := url.Parse(root)
	if err != nil {
		return nil, errors.New("its URL cannot be read; special characters in a name or a password are written %XX")
	}
	query := u.Query()
	p := &place{schema: rootname.Schema}
	if query.Has("schema") {
		p.schema = query.Get("schema")
	}
	if p.schema == "" || len(p.schema) > maxSchema || !utf8.ValidString(p.schema) || strings.IndexByte(p.schema, 0) >= 0 {
		return nil, fmt.Errorf("its schema must have a name of 1 to %d bytes of UTF-8", maxSchema)
	}
	switch fresh := query.Get("fresh"); {
	case fresh == "strict":
		p.strict = true
	case query.Has("fresh"):
		return nil, fmt.Errorf("its parameter fresh is %q; it can only be strict", fresh)
	}
	p.decided = query.Has("default_query_exec_mode")
	p.shown = shown(*u, query)
	query.Del("schema")
	query.Del(rootname.HostFolder)
	query.Del("fresh")
	for name, value := range defaults {
		if !query.Has(name) {
			query.Set(name, value)
		}
	}
	u.RawQuery = query.Encode()
	if p.config, err = pgxpool.ParseConfig(u.String()); err != nil {
		return nil, fmt.Errorf("its URL cannot be used: %s", reason(err))
	}
	return p, nil
}

// reason returns what is wrong with a URL. The error of pgx begins with the URL, and hides the password only where
// it recognizes it.
func reason(err error) string {
	for next := err; next != nil; next = errors.Unwrap(next) {
		err = next
	}
	return err.Error()
}

// shown returns a URL without passwords.
func shown(u url.URL, query url.Values) string {
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	if query.Has("password") || query.Has("sslpassword") {
		query = maps.Clone(query)
		query.Del("password")
		query.Del("sslpassword")
		u.RawQuery = query.Encode()
	}
	return u.String()
}

// lockKey is the key of the writer's lock of a schema.
func lockKey(schema string) int64 {
	sum := sha256.Sum256([]byte("scripter root " + schema))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// quoted returns the name of a schema quoted for SQL.
func quoted(schema string) string { return pgx.Identifier{schema}.Sanitize() }
