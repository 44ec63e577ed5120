package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scripter/internal/corpus"
)

// axeFile is axe-core, which "npm ci" in admin/web brings.
const axeFile = "admin/web/node_modules/axe-core/axe.min.js"

// axeCore returns the source of axe-core.
func axeCore(t testing.TB) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(corpus.ModuleFolder(t), axeFile))
	if err != nil {
		t.Fatalf("axe-core is missing; this installs it: npm --prefix admin/web ci (%v)", err)
	}
	return string(source)
}

// Axe lets axe-core look at the page as it is now; each of its findings fails the test.
func (b *Tab) Axe() {
	b.t.Helper()
	b.axe(`{resultTypes: ["violations"]}`)
}

// axe runs axe-core with options.
func (b *Tab) axe(options string) {
	b.t.Helper()
	has := false
	b.must(`typeof axe === "object"`, &has)
	if !has {
		b.must(axeCore(b.t)+"\n;0", nil)
	}
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct {
			HTML           string
			FailureSummary string
		}
	}
	b.must(`axe.run(document, `+options+`).then(r => r.violations)`, &found)
	for _, v := range found {
		for _, n := range v.Nodes {
			b.t.Errorf("axe: %s at %d px, %s: %s (%s): %s\n\t%s", b.URL(), b.look.width, b.look.theme, v.Help, v.ID,
				n.HTML,
				strings.ReplaceAll(n.FailureSummary, "\n", "\n\t"))
		}
	}
}
