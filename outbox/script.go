package outbox

import (
	"errors"

	"scripter/objectdb"
)

// The cells of the content of a script's row.
const (
	scriptCell = "script"
	argsCell   = "args"
)

// ScriptRow returns the row and the content for a script that runs later.
func ScriptRow(a objectdb.Address, args objectdb.List) (Row, map[string]objectdb.Value) {
	return Row{Kind: Script, To: a.String()}, map[string]objectdb.Value{scriptCell: a, argsCell: args}
}

// ReadScript returns the address of the script and its arguments.
func ReadScript(cells map[string]objectdb.Value) (objectdb.Address, objectdb.List, error) {
	a, is := cells[scriptCell].(objectdb.Address)
	args, are := cells[argsCell].(objectdb.List)
	if !is || !are {
		return nil, nil, errors.New("the content of the row names no script")
	}
	return a, args, nil
}
