package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"scripter/objectdb"
)

// sqlError returns the error of this module for one of pgx, and keeps its text. ctx is that of the call; if it has
// ended, that is the reason.
func sqlError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, pgx.ErrNoRows):
		return objectdb.ErrNotFound
	}
	refused := new(pgconn.PgError)
	if !errors.As(err, &refused) {
		if isLost(err) {
			return &unreachable{err}
		}
		return fmt.Errorf("PostgreSQL: %w", err)
	}
	if refused.Code == "28P01" { // invalid_password
		return fmt.Errorf("PostgreSQL: %w; the password is read from PGPASSWORD, or from the file that PGPASSFILE or "+
			"the parameter passfile names", refused)
	}
	if kind := kindOf(refused.Code); kind != nil {
		return fmt.Errorf("%w (%w)", kind, refused)
	}
	return fmt.Errorf("PostgreSQL: %w", refused)
}

var errTooMany = fmt.Errorf("%w: the server has no more connections", objectdb.ErrBusy)

// unreachable returns objectdb.ErrUnreachable with its reason. The message of pgx is not used, because it has a line
// for each address that was tried, with the parameters of the URL.
type unreachable struct{ err error }

func (u *unreachable) Error() string {
	return objectdb.ErrUnreachable.Error() + ": " + strings.Join(innermost(nil, u.err), "; ")
}

func (u *unreachable) Unwrap() []error { return []error{objectdb.ErrUnreachable, u.err} }

// innermost appends the texts of the innermost errors of err to list, each once.
func innermost(list []string, err error) []string {
	var inner []error
	switch e := err.(type) {
	case *net.OpError: // it names the address
	case interface{ Unwrap() []error }:
		inner = e.Unwrap()
	case interface{ Unwrap() error }:
		if next := e.Unwrap(); next != nil {
			inner = []error{next}
		}
	}
	for _, e := range inner {
		list = innermost(list, e)
	}
	text := err.Error()
	if len(inner) == 0 && err != objectdb.ErrUnreachable && !slices.Contains(list, text) {
		list = append(list, text)
	}
	return list
}

// fenced returns ErrConflict if the row of a commit was refused: another commit has its generation, or the commit
// before it is missing.
func fenced(err error) error {
	refused := new(pgconn.PgError)
	if errors.As(err, &refused) && refused.TableName == "commits" &&
		(refused.Code == "23505" || refused.Code == "23502") { // unique_violation, not_null_violation
		return fmt.Errorf("%w (%w)", objectdb.ErrConflict, refused)
	}
	return err
}

// standby returns ErrReadOnly for the error of a server that is a standby, where a transaction that writes cannot
// begin.
func standby(err error) error {
	refused := new(pgconn.PgError)
	if errors.As(err, &refused) && refused.Code == "0A000" { // feature_not_supported
		return fmt.Errorf("%w: the server is a standby; name the one that can be written in the URL of the root, "+
			"or all of them with target_session_attrs=read-write (%w)", objectdb.ErrReadOnly, refused)
	}
	return err
}

// kindOf returns what an SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) means for a
// root, or nil.
func kindOf(state string) error {
	switch state {
	case "55P03": // lock_not_available
		return objectdb.ErrBusy
	case "53300": // too_many_connections
		return errTooMany
	case "40001", "40P01": // serialization_failure, deadlock_detected
		return objectdb.ErrConflict
	case "25006": // read_only_sql_transaction
		return objectdb.ErrReadOnly
	case "42501": // insufficient_privilege
		return objectdb.ErrReadOnly
	case "53100", "58030": // disk_full, io_error
		return objectdb.ErrDisk
	case "XX001", "XX002", "42P01", "42703", "3F000": // data_corrupted, index_corrupted, a table, column or schema is gone
		return objectdb.ErrDamaged
	case "25P03", "57P05": // a time limit of idle sessions
		return objectdb.ErrUnreachable
	}
	if class := state[:min(2, len(state))]; class == "08" || state == "57P01" || state == "57P02" || state == "57P03" {
		return objectdb.ErrUnreachable // connection_exception, admin_shutdown, crash_shutdown, cannot_connect_now
	}
	return nil
}

// isLost reports whether an error says that the server cannot be reached or that the connection is lost.
func isLost(err error) bool {
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connect) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, pgconn.ErrConnClosed)
}
