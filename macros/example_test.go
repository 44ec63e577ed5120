package macros_test

import (
	"fmt"
	"strings"

	"scripter/macros"
)

// printer writes a page with the names of its markers in capital letters.
type printer struct{}

func (printer) Text(s string) { fmt.Print(s) }

func (printer) Insert(m *macros.Marker) error {
	switch e := m.Expr.(type) {
	case macros.Name:
		fmt.Print(strings.ToUpper(strings.Join(e.Path, ".")))
	case macros.Call:
		fmt.Print(e.Args[0])
	}
	return nil // m.Err says what is wrong: a line for the log
}

func (printer) Test(m *macros.Marker) (bool, error) { return m.Expr == macros.Bool(true), nil }

func (printer) Each(m *macros.Marker, body func() error) (found bool, err error) {
	for range 3 {
		if err := body(); err != nil {
			return true, err
		}
	}
	return true, nil
}

func (printer) Block(m *macros.Marker, body func() error) error { return body() }

func Example() {
	page := macros.Parse(`You come from <!--#referer-->.
<!--#if false-->Never.<!--#else--><!--#for x in user.list--><!--#shout (hip hip)-->! <!--#end--><!--#end-->`)
	fmt.Println(page.Expand(printer{}))
	// Output:
	// You come from REFERER.
	// hip hip! hip hip! hip hip! <nil>
}

func ExampleParse() {
	page := macros.Parse("<h1>Home</h1>\n<p><!--#counter(home, my \"site\")-->")
	for _, m := range page.Markers() {
		fmt.Println(m.Text)
		fmt.Println(m.Err)
	}
	// Output:
	// <!--#counter(home, my "site")-->
	// line 2, column 26: expected "," or ")" after the argument, found "\""
}
