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
// The package adds to gopher-lua what that lacks: limits that no script escapes,
// libraries that answer as PUC Lua 5.1.5 does, errors that name the variable
// and the line, and a compiler that is right where gopher-lua's is wrong. It
// knows nothing of the root; what it must know of its user is the interface
// Owner.
//
// In this package "the machine" is gopher-lua's interpreter.
package lua
