package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

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
			return fmt.Errorf("%w (%w)", objectdb.ErrUnreachable, err)
		}
		return fmt.Errorf("PostgreSQL: %w", err)
	}
	if kind := kindOf(refused.Code); kind != nil {
		return fmt.Errorf("%w (%w)", kind, refused)
	}
	return fmt.Errorf("PostgreSQL: %w", refused)
}

var errTooMany = fmt.Errorf("%w: the server has no more connections", objectdb.ErrBusy)

// connectError is sqlError for the error of a new connection.
func connectError(ctx context.Context, err error) error {
	return fmt.Errorf("cannot connect: %w", sqlError(ctx, err))
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
