package docs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/script"
)

// TestLua holds the generated parts of lua.md and testing.md against the code; -update writes
// them.
func TestLua(t *testing.T) {
	checkGenerated(t, "lua.md", map[string]string{
		"odb": described(script.ODB()), "verbs": groups(gateway.Verbs()),
	})
	checkGenerated(t, "testing.md", map[string]string{"tests": groups(gateway.TestVerbs())})
}

// checkGenerated compares the generated parts of a page, by their names; -update writes them.
func checkGenerated(t *testing.T, file string, parts map[string]string) {
	t.Helper()
	page := read(t, file)
	for name, want := range parts {
		before, rest, ok := strings.Cut(page, "<!-- "+name+": ")
		require.True(t, ok, name)
		note, rest, _ := strings.Cut(rest, "\n")
		got, after, ok := strings.Cut(rest, "<!-- end -->")
		require.True(t, ok, name)
		if *update {
			page = before + "<!-- " + name + ": " + note + "\n" + want + "<!-- end -->" + after
			continue
		}
		assert.True(t, want == got, "the part %q of %s is old: go test ./docs -run TestLua -update", name, file)
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(page), 0o644))
	}
}

// groups describes the verbs, a section for each group.
func groups(verbs []script.Verb) string {
	var b strings.Builder
	group, list := "", []script.Verb(nil)
	flush := func() {
		if len(list) > 0 {
			b.WriteString("\n### " + group + "\n" + described(list))
		}
		list = nil
	}
	for _, v := range verbs {
		g, _, _ := strings.Cut(v.Name, ".")
		if g != group {
			flush()
			group = g
		}
		list = append(list, v)
	}
	flush()
	return b.String() + "\n"
}

// described describes functions one after the other: call, what it does,
// arguments, result, failures, example.
func described(verbs []script.Verb) string {
	var b strings.Builder
	for _, v := range verbs {
		doc := v.Doc
		if v.Page {
			doc += " Pages may call it."
		}
		fmt.Fprintf(&b, "\n`%s`\n\n%s\n\n", v.Usage(), doc)
		for _, p := range v.Params {
			fmt.Fprintf(&b, "- `%s`: %s\n", p.Name, typed(p))
		}
		for _, p := range v.Results {
			fmt.Fprintf(&b, "- gives %s\n", typed(p))
		}
		if v.Errors != "" {
			fmt.Fprintf(&b, "- fails for: %s\n", v.Errors)
		}
		if len(v.Params)+len(v.Results)+len(v.Errors) > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "```lua\n%s\n```\n\ngives `%s`\n", v.Source(), v.Gives)
	}
	return b.String() + "\n"
}

// typed tells the type of a parameter and what there is to say.
func typed(p script.Param) string {
	text := strings.ReplaceAll(p.Type, "|", " or ")
	if p.Doc != "" {
		text += ", " + p.Doc
	}
	return text
}
