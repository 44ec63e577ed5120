package torture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The two counts that must be nought.
const (
	wrongAnswers = "wrong answers"
	lostSteps    = "lost steps"
)

// counts are what a torture counted, and the first of its faults.
type counts struct {
	mu     sync.Mutex
	n      map[string]int
	faults []string
}

func (c *counts) add(what string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[what] += n
}

func (c *counts) get(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[what]
}

// fault counts what must not be, and keeps the first few.
func (c *counts) fault(what, format string, args ...any) {
	c.add(what, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.faults) < 20 {
		c.faults = append(c.faults, what+": "+fmt.Sprintf(format, args...))
	}
}

func (c *counts) print(t *testing.T, lasting time.Duration) {
	c.add(wrongAnswers, 0)
	c.add(lostSteps, 0)
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(c.n)) {
		fmt.Fprintf(&b, "\n%8d %s", c.n[what], what)
	}
	t.Logf("torture: %v, %d visitors behind CGI, %d behind the daemon%s", lasting, cgiVisitors, daemonVisitors, b.String())
}

// readBombs returns the hostile scripts of the tests of the language, from their
// source: what one list has, the other has too.
func readBombs(t testing.TB) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../lua/containment_test.go", nil, 0)
	require.NoError(t, err)
	var bombs []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || spec.Names[0].Name != "bombs" && spec.Names[0].Name != "hoards" {
			return true
		}
		for _, element := range spec.Values[0].(*ast.CompositeLit).Elts {
			text, err := strconv.Unquote(element.(*ast.KeyValueExpr).Value.(*ast.BasicLit).Value)
			require.NoError(t, err)
			bombs = append(bombs, "pcall (function () "+text+" end) return \"survived\"")
		}
		return false
	})
	require.Greater(t, len(bombs), 40)
	return bombs
}
