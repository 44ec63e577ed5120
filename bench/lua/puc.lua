-- Runs a program as PUC Lua does and writes what it returns: lua5.1 puc.lua PROGRAM
io.write (tostring (assert (loadfile (arg [1])) ()))
