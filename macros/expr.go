package macros

// Expr is the content of a marker: a [Name] or a [Call]. As an argument it may also
// be a [String], a [Number] or a [Bool]; in a condition also [Nil], a [Not] or an
// [Operation]. Markers that begin a block of another kind hold a [Loop] or a [Title].
type Expr interface {
	expr()
}

// Name names an object: user.["odd name"].x has the path user, odd name, x.
type Name struct {
	Path []string // one name or more, none of them empty

	// Word is the name as written, each run of blanks shortened to one, or "" if
	// the name has brackets. If no object has the name of an argument, its value is
	// this text. So counter(home,www.example.com) needs no quotes.
	Word string
}

// Call calls a script.
type Call struct {
	Path []string // of the script, as in a Name
	Args []Expr
}

// String is text: the inside of quotes with its escapes replaced, or words that
// are not a name, such as /sites/home and my site.
type String string

// Number is a decimal number.
type Number float64

// Bool is true or false, in either case of letters.
type Bool bool

// Nil is nil in a condition: no value.
type Nil struct{}

// Not is not X.
type Not struct{ X Expr }

// Operation joins or compares two parts of a condition.
type Operation struct {
	Op   string // and, or, ==, ~=, <, <=, > or >=
	X, Y Expr
}

// Loop is the content of a for.
type Loop struct {
	Var     string // the name of the item
	In      Expr   // a Name or a Call
	Reverse bool
	Limit   Expr // a Number, Name or Call; nil: all items
}

// Title is the name of a block.
type Title string

func (Name) expr()      {}
func (Call) expr()      {}
func (String) expr()    {}
func (Number) expr()    {}
func (Bool) expr()      {}
func (Nil) expr()       {}
func (Not) expr()       {}
func (Operation) expr() {}
func (Loop) expr()      {}
func (Title) expr()     {}
