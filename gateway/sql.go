package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"scripter/database"
	"scripter/runner"
	"scripter/script"
	"scripter/site"
)

// OpenSQL returns an error if scripts of this attempt cannot open the database: see [verbsql.Host].
func (c *attempt) OpenSQL(name string) error {
	_, err := c.database(name)
	return err
}

func (c *attempt) database(name string) (site.Database, error) {
	reach := c.g.Reach()
	d, ok := reach.Database(name)
	if !ok {
		return d, reach.NoDatabase(name)
	}
	return d, c.g.databases.Check(d)
}

// RunSQL runs a statement for a script of this attempt. It holds no lock of the root: see [runner.Run.Once].
func (c *attempt) RunSQL(t *script.Thread, name string, s database.Statement) (*database.Result, error) {
	d, err := c.database(name)
	if err != nil {
		return nil, err
	}
	if s.Write && (c.isDry() || c.IsDiscarded()) {
		return nil, errors.New("no database is changed by a test, a replay, or a run whose changes are undone")
	}
	rows, size := c.Count(site.MaxSQLRows), c.Size(site.MaxSQLSize)
	s.MaxRows, s.MaxBytes, s.Time = rows.Most, size.Most, c.outsideTime(t, site.MaxSQLTime, 0)
	v, err := c.Once(sqlKey(name, &s), func(ctx context.Context) (any, error) {
		return c.g.databases.Run(ctx, d, s)
	})
	switch {
	case err == nil:
		return v.(*database.Result), nil
	case errors.Is(err, database.ErrRows):
		return nil, rows.Error("the answer has more than %d rows", rows.Most)
	case errors.Is(err, database.ErrBytes):
		return nil, size.Error("the answer is larger than %v MB", size.Limit.Value)
	case errors.Is(err, runner.ErrAgain), c.Context().Err() != nil:
		return nil, err
	}
	return nil, c.timeOver(t, err)
}

// sqlKey returns a text that is the same for the same statement and arguments.
func sqlKey(name string, s *database.Statement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "sql %s %t %q", name, s.Write, s.Text)
	for _, arg := range s.Args {
		if t, ok := arg.(time.Time); ok {
			arg = t.UnixNano()
		}
		fmt.Fprintf(&b, " %T %q", arg, fmt.Sprint(arg))
	}
	return b.String()
}
