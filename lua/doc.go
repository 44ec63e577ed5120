// Package lua is Lua 5.1 on gopher-lua, for scripts that nobody trusts.
//
// Make a State for each run, and Call functions in it:
//
//	s := lua.New(ctx, lua.Options{Limits: lua.DefaultLimits()})
//	defer s.Close()
//	proto, err := s.Compile("hello", source)
//	…
//	result, frames, err := s.Call(nil, s.NewFunction(proto), args)
//
// The package adds to gopher-lua limits that no script escapes, libraries that
// answer as PUC Lua 5.1.5 does, errors that name the variable and the line, and
// cures for the defects of its compiler. It knows nothing of the root; what it
// must know of its user is the interface Owner.
//
// Comments name the function of PUC Lua's source that a rule comes from, such as
// luaL_where.
package lua
