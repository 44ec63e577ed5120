package macros

// Expr is the content of a marker: a [Name] or a [Call]. As an argument it may also
// be a [String], a [Number] or a [Bool].
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

func (Name) expr()   {}
func (Call) expr()   {}
func (String) expr() {}
func (Number) expr() {}
func (Bool) expr()   {}
