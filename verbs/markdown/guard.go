package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The time of goldmark grows with the square of some texts, such as many opening brackets in one
// paragraph, and a run cannot interrupt it. These parsers find nothing: they come first wherever something
// might begin, and count that as instructions of the run, so that its limits end the work.

// callKey is the key of the *script.Call in the context of a parser.
var callKey = parser.NewContextKey()

// guardCharge is what one place at which something may begin counts, in instructions. The slowest
// texts of 64 KB take about 60 µs for one.
const guardCharge = 500

var guards = []parser.Option{
	parser.WithInlineParsers(util.Prioritized(inlineGuard{}, 0)),
	parser.WithBlockParsers(util.Prioritized(blockGuard{}, 0)),
	parser.WithParagraphTransformers(util.Prioritized(paragraphGuard{}, 0)),
}

type inlineGuard struct{}

func (inlineGuard) Trigger() []byte { return []byte("[]!") }

func (inlineGuard) Parse(_ ast.Node, _ text.Reader, pc parser.Context) ast.Node {
	callOf(pc).Charge(guardCharge)
	return nil
}

type blockGuard struct{}

func (blockGuard) Trigger() []byte { return []byte(">-+*0123456789") }

func (blockGuard) Open(_ ast.Node, _ text.Reader, pc parser.Context) (ast.Node, parser.State) {
	callOf(pc).Charge(guardCharge)
	return nil, parser.NoChildren
}

func (blockGuard) Continue(ast.Node, text.Reader, parser.Context) parser.State { return parser.Close }
func (blockGuard) Close(ast.Node, text.Reader, parser.Context)                 {}
func (blockGuard) CanInterruptParagraph() bool                                 { return true }
func (blockGuard) CanAcceptIndentedLine() bool                                 { return false }

type paragraphGuard struct{}

// Transform counts the definitions of links that may stand in a paragraph.
func (paragraphGuard) Transform(p *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := p.Lines()
	if n := lines.Len(); n > 0 {
		first := lines.At(0)
		if bytes.HasPrefix(bytes.TrimLeft(first.Value(reader.Source()), " "), []byte("[")) {
			callOf(pc).Charge(n * n / 10)
		}
	}
}
