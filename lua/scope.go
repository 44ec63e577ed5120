package lua

import "github.com/yuin/gopher-lua/ast"

// A scope is what the normaliser knows of the function in which it is.
type scope struct {
	outer     *scope
	line      int        // where the function begins, 0 for the script
	locals    []variable // visible now, innermost last
	blocks    []block
	upvalues  map[string]bool
	constants []string
	self      string // the local that the function is assigned to
	selfUsed  bool   // the function uses an outer variable of that name
}

// A variable is a local; it is captured when a function inside uses it.
type variable struct {
	name     string
	captured bool
}

// A block is a list of statements with its own locals.
type block struct {
	first   int  // index of its first local
	visible int  // what was visible before
	loop    bool // the body of a loop
	breaks  bool // not a loop, and a break inside leaves it
	guard   bool // a loop, and a break leaves it through a block with captured locals
}

func (n *normaliser) enterBlock(loop bool) {
	f := n.fn
	f.blocks = append(f.blocks, block{first: len(f.locals), visible: n.visible, loop: loop})
	n.visible++
}

// leaveBlock forgets the block's locals and reports whether it is a loop that
// needs a guard.
func (n *normaliser) leaveBlock() bool {
	f := n.fn
	last := len(f.blocks) - 1
	b := f.blocks[last]
	captured := false
	for _, v := range f.locals[b.first:] {
		captured = captured || v.captured
	}
	f.locals, f.blocks, n.visible = f.locals[:b.first], f.blocks[:last], b.visible
	if b.breaks && captured {
		for i := last - 1; i >= 0; i-- {
			if f.blocks[i].loop {
				f.blocks[i].guard = true
				break
			}
		}
	}
	return b.guard
}

func (n *normaliser) declare(names ...string) {
	for _, name := range names {
		n.fn.locals = append(n.fn.locals, variable{name: name})
	}
	n.visible += len(names)
}

// resolve returns what a name is, in the words of Lua's messages: "local", "upvalue"
// or "global". It notes the constants and upvalues that the compiler will make, and
// counts the names that it will look through.
func (n *normaliser) resolve(at ast.PositionHolder, name string) string {
	n.work += n.visible
	if n.work > maxWork {
		refuse(at, "function or block is too complex")
	}
	for f := n.fn; f != nil; f = f.outer {
		for i := len(f.locals) - 1; i >= 0; i-- {
			if f.locals[i].name != name {
				continue
			}
			if f == n.fn {
				return "local"
			}
			f.locals[i].captured = true
			n.noteUpvalue(at, name, f)
			return "upvalue"
		}
		if f.self == name {
			f.selfUsed = true
		}
	}
	n.constant(name)
	return "global"
}

// constant counts a constant of the function.
func (n *normaliser) constant(s string) { n.fn.constants = append(n.fn.constants, s) }
