package macros_test

import (
	"fmt"
	"strings"

	"scripter/macros"
)

func Example() {
	page := macros.Parse("<p>You come from <!--#referer-->. <!--#shout (\"hello\")-->")

	html, err := page.Expand(nil, macros.EvalFunc(func(m *macros.Marker) (string, error) {
		switch e := m.Expr.(type) {
		case macros.Name:
			return "the page named " + strings.Join(e.Path, "."), nil
		case macros.Call:
			return strings.ToUpper(string(e.Args[0].(macros.String))), nil
		}
		return "", nil // m.Err says what is wrong: a line for the log
	}))
	fmt.Println(string(html), err)
	// Output: <p>You come from the page named referer. HELLO <nil>
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
