// Package script runs Lua scripts that live in the root and see the root as
// Lua tables.
//
// Make one Engine with the verbs, the functions for scripts that are written in
// Go. For every request make a Thread over the request's transaction, and Run
// the scripts it needs:
//
//	engine := script.NewEngine(verbs)
//	err := db.Update(ctx, func(tx *objectdb.Tx) error {
//		t := engine.NewThread(ctx, script.ThreadOptions{Tx: tx})
//		defer t.Close()
//		result, err := t.Run(address, params)
//		…
//	})
//
// # What a script sees
//
// A bare name is a local, else a global assigned in this run, else one of Lua's
// libraries, else a name of the request (ThreadOptions.Names), else a top table
// of the root, else what the tables of system.paths hold under it. Names in the
// root and of the request are found without regard to case. Assigning to a bare
// name makes a global of this run; the root is written through its tables only:
//
//	user.visits = (user.visits or 0) + 1
//	scratchpad.seen [host] = {at = clock.now (), by = "me"}
//	user.old = nil
//	return webserver.httpheader () .. user.page
//
// A table of the root behaves as a Lua table: t.name, t ["odd name"], t [3] (the
// third cell in order), #t (the number of cells), pairs and ipairs (in order),
// next, == and type work. What Lua keeps for its own tables (setmetatable,
// rawset, the library table) does not apply to it. Reading a list gives a fresh
// Lua table, to be assigned back when it was changed. Assigning a Lua table
// makes a table of names, or a list of the items 1..n; assigning a table of the
// root copies it with all below. Strings assigned to text or outlines leave
// their kind as it is.
//
// A script object is a function: it is called like one, and gets its arguments
// as "...". Its source is odb.text (it), and odb.script (source) makes one.
// Dates, binaries and addresses are values of their own: see odb.date, with
// the fields year, month, day, hour, min, sec, nsec, wday, yday and unix,
// odb.binary with type and data, odb.address with name, parent and get. An
// address is also called to get what is there.
//
// # Departures from Lua 5.1
//
// docs/lua.md lists them, each with its reason and an example. The first: an
// undefined global name is an error, not nil, unless this run assigned it;
// rawget (_G, "x") asks without an error.
package script
