package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"scripter/objectdb"
)

// Create makes a new root, which holds nothing but the empty root table, and opens it. It makes the schema, too,
// unless an empty one exists. If the schema has a root already, the error is fs.ErrExist. A root appears whole or
// not at all.
func Create(root string, o objectdb.Options) (*objectdb.DB, error) {
	s, err := opened("create", root, o, (*store).create)
	if err != nil {
		return nil, err
	}
	return objectdb.New(s, s.options), nil
}

// Open opens a root. It never makes one.
//
// Different errors mean a URL that cannot be used, a server that cannot be reached within Options.BusyTimeout
// (ErrUnreachable) or that refuses the user, no root in the schema (fs.ErrNotExist), tables of a newer form
// (ErrNewer).
//
// Open brings tables of an older form to the present one: see upgrade.
func Open(root string, o objectdb.Options) (*objectdb.DB, error) {
	s, err := OpenStore(root, o)
	if err != nil {
		return nil, err
	}
	return objectdb.New(s, o), nil
}

// OpenStore does the same as Open, and returns the store of the DB.
func OpenStore(root string, o objectdb.Options) (objectdb.Restorer, error) {
	s, err := opened("open", root, o, (*store).firstRead)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// opened returns a store after its first action, which shows whether it can be used.
func opened(op, root string, o objectdb.Options, first func(*store, context.Context) error) (*store, error) {
	p, err := parseURL(root)
	if err != nil {
		return nil, &objectdb.Error{Op: op, Path: "a root in PostgreSQL", Err: err}
	}
	s, err := newStore(p, o)
	if err == nil {
		if err = first(s, context.Background()); err != nil {
			s.Close()
		}
	}
	if err != nil {
		return nil, &objectdb.Error{Op: op, Path: p.shown, Err: err}
	}
	return s, nil
}

func (s *store) create(ctx context.Context) error {
	made := s.options.Now().UnixNano()
	_, err := s.make(ctx, func(c *session) ([]objectdb.Sum, error) {
		t := c.trip()
		t.add(c.in(`INSERT INTO @.info VALUES (true, $1, $2, '', '')`), form, objectdb.StorableText(s.options.Program))
		t.add(c.in(`INSERT INTO @.commits VALUES (1, $1, $2, '{}', '{}', 0, 1, $3, 0, 0)`),
			rand.Int64(), objectdb.RootID, made)
		t.add(c.in(`INSERT INTO @.object VALUES ($1, 0, '', '', 'table', 1, $2, $2, 0, '', 0, 0, NULL, NULL)`),
			objectdb.RootID, made)
		return nil, sqlError(ctx, t.run(ctx))
	})
	return err
}

// make makes the tables of a new root, and lets fill fill them.
func (s *store) make(
	ctx context.Context, fill func(*session) ([]objectdb.Sum, error),
) (sums []objectdb.Sum, err error) {
	if s.options.ReadOnly {
		return nil, objectdb.ErrReadOnly
	}
	wait := s.options.BusyTimeout
	var encoding string
	var version int
	var schemaThere, rootThere bool
	c, err := s.open(ctx, &wait, func(ctx context.Context, c *session) error {
		t := c.trip()
		t.add(beginWriting)
		t.add(setLimits, milliseconds(max(wait, time.Millisecond)), "0")
		t.add(takeLock, s.lock)
		t.one(func(rows pgx.Rows) error { return rows.Scan(&encoding, &version, &schemaThere, &rootThere) },
			`SELECT current_setting('server_encoding'), current_setting('server_version_num')::int,
				EXISTS (SELECT FROM pg_namespace WHERE nspname = $1),
				EXISTS (SELECT FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1
					AND relname IN ('info', 'commits', 'object', 'past', 'change', 'replaced'))`, s.schema)
		return sqlError(ctx, t.run(ctx))
	})
	if err != nil {
		return nil, err
	}
	defer c.End()
	switch {
	case version < oldestServer:
		return nil, fmt.Errorf("the server is PostgreSQL %d; 15 or newer is needed", version/10000)
	case encoding != "UTF8":
		return nil, fmt.Errorf("its database has the encoding %s; it must be UTF8", encoding)
	case rootThere:
		return nil, fmt.Errorf("%w: the schema %q has tables of a root; open it instead", fs.ErrExist, s.schema)
	}
	sql := inSchema(schema, s.schema)
	if !schemaThere {
		sql = `CREATE SCHEMA ` + quoted(s.schema) + `;` + sql
	}
	if _, err := c.conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		return nil, sqlError(ctx, err)
	}
	if sums, err = fill(c); err != nil {
		return nil, err
	}
	t := c.trip()
	t.add(barrierSync)
	t.add(commit)
	return sums, sqlError(ctx, t.run(ctx))
}

// oldestServer is the oldest version of the server that is used, as server_version_num has it.
const oldestServer = 150000

func (s *store) firstRead(ctx context.Context) error {
	wait := s.options.BusyTimeout
	var version *int
	c, err := s.open(ctx, &wait, func(ctx context.Context, c *session) error {
		t := c.trip()
		t.add(beginReading)
		t.one(func(rows pgx.Rows) error { return rows.Scan(&version) }, inSchema(`SELECT form FROM @.info`, s.schema))
		return t.run(ctx)
	})
	refused := new(pgconn.PgError)
	if errors.As(err, &refused) && (refused.Code == "42P01" || refused.Code == "3F000") {
		return fmt.Errorf("%w: the database has no root in the schema %q; create it first", fs.ErrNotExist, s.schema)
	}
	if err != nil {
		return sqlError(ctx, err)
	}
	err = checkForm(version)
	c.End()
	if err != nil || *version == form {
		return err
	}
	return s.upgrade(ctx)
}

var errNoCopies = fmt.Errorf("%w: it is not known where its saved copies lie", errors.ErrUnsupported)

func (s *store) Save(context.Context, objectdb.SaveOptions) (objectdb.Copy, error) {
	return objectdb.Copy{}, &objectdb.Error{Op: "save", Path: s.shown, Err: errNoCopies}
}

func (s *store) Revert(context.Context, string, objectdb.RevertOptions) (objectdb.Reverted, error) {
	return objectdb.Reverted{}, &objectdb.Error{Op: "revert", Path: s.shown, Err: errNoCopies}
}

func (s *store) Copies() ([]objectdb.Copy, error) { return nil, nil }

func (s *store) LastFailure() objectdb.Failure { return objectdb.Failure{} }
