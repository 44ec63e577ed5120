package markdown

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"scripter/script"
)

// The tables of GitHub (GFM, 4.10). goldmark has them in its package extension, whose regular expressions
// would cost every start of scripter-cgi 0.4 ms; and it fills every row up to the length of the first, however
// many there are.

// maxCells bounds the cells of a table, those that are filled up included.
const maxCells = 100_000

// cellCharge is what a cell counts, in instructions.
const cellCharge = 10

// tables is the extension of goldmark for tables.
type tables struct{}

func (tables) Extend(md goldmark.Markdown) {
	md.Parser().AddOptions(parser.WithParagraphTransformers(util.Prioritized(tableParser{}, 200)))
	md.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(tableRenderer{}, 500)))
}

type tableParser struct{}

// Transform makes a table of the lines of a paragraph from the one before the first delimiter row.
func (tableParser) Transform(p *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, source := p.Lines(), reader.Source()
	for i := 1; i < lines.Len(); i++ {
		alignments := delimiters(lines.At(i), source)
		if alignments == nil {
			continue
		}
		v := callOf(pc)
		if len(alignments)*(lines.Len()-i) > maxCells {
			v.Bad(1, "a table has more than %d cells", maxCells)
		}
		v.Charge(cellCharge * len(alignments) * (lines.Len() - i))
		head := cellsOf(lines.At(i-1), source)
		if len(head) != len(alignments) {
			return
		}
		table := extension.NewTable()
		table.Alignments = alignments
		table.AppendChild(table, extension.NewTableHeader(tableRow(head, alignments)))
		for j := i + 1; j < lines.Len(); j++ {
			table.AppendChild(table, tableRow(cellsOf(lines.At(j), source), alignments))
		}
		parent := p.Parent()
		parent.InsertAfter(parent, p, table)
		if i == 1 {
			parent.RemoveChild(parent, p)
			return
		}
		lines.SetSliced(0, i-1)
		last := lines.At(i - 2)
		lines.Set(i-2, last.TrimRightSpace(source))
		return
	}
}

// delimiters returns the alignments that the delimiter row of a table says, and nil for any other line.
func delimiters(line text.Segment, source []byte) []extension.Alignment {
	s := bytes.TrimSpace(line.Value(source))
	if !bytes.ContainsAny(s, "|:") || len(bytes.Trim(s, "|-: \t")) > 0 {
		return nil
	}
	var list []extension.Alignment
	for _, cell := range cellsOf(line, source) {
		dashes := bytes.TrimSpace(cell.Value(source))
		left, right := bytes.HasPrefix(dashes, []byte(":")), bytes.HasSuffix(dashes, []byte(":"))
		dashes = bytes.TrimSuffix(bytes.TrimPrefix(dashes, []byte(":")), []byte(":"))
		if len(dashes) == 0 || len(bytes.Trim(dashes, "-")) > 0 {
			return nil
		}
		switch {
		case left && right:
			list = append(list, extension.AlignCenter)
		case left:
			list = append(list, extension.AlignLeft)
		case right:
			list = append(list, extension.AlignRight)
		default:
			list = append(list, extension.AlignNone)
		}
	}
	return list
}

// cellsOf returns the cells of a line, without the blanks around them.
func cellsOf(line text.Segment, source []byte) []text.Segment {
	line = line.TrimLeftSpace(source)
	line = line.TrimRightSpace(source)
	start, end := line.Start, line.Stop
	if start < end && source[start] == '|' {
		start++
	}
	var cells []text.Segment
	escaped := false
	for i := start; i < end; i++ {
		switch {
		case source[i] == '|' && !escaped:
			cells = append(cells, cell(start, i, source))
			start = i + 1
		case source[i] == '\\':
			escaped = !escaped
			continue
		}
		escaped = false
	}
	if start < end {
		cells = append(cells, cell(start, end, source))
	}
	return cells
}

func cell(start, end int, source []byte) text.Segment {
	s := text.NewSegment(start, end)
	s = s.TrimLeftSpace(source)
	return s.TrimRightSpace(source)
}

// tableRow returns a row with as many cells as there are alignments.
func tableRow(cells []text.Segment, alignments []extension.Alignment) *extension.TableRow {
	row := extension.NewTableRow(alignments)
	for i, a := range alignments {
		c := extension.NewTableCell()
		c.Alignment = a
		if i < len(cells) && !cells[i].IsEmpty() {
			c.Lines().Append(cells[i])
		}
		row.AppendChild(row, c)
	}
	return row
}

type tableRenderer struct{}

func (tableRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(extension.KindTable, func(w util.BufWriter, _ []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		begin, end := "<table>\n", "</table>\n"
		if n.ChildCount() > 1 {
			end = "</tbody>\n" + end
		}
		return element(w, in, begin, end)
	})
	r.Register(extension.KindTableHeader, func(w util.BufWriter, _ []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		end := "</tr>\n</thead>\n"
		if n.NextSibling() != nil {
			end += "<tbody>\n"
		}
		return element(w, in, "<thead>\n<tr>\n", end)
	})
	r.Register(extension.KindTableRow, func(w util.BufWriter, _ []byte, _ ast.Node, in bool) (ast.WalkStatus, error) {
		return element(w, in, "<tr>\n", "</tr>\n")
	})
	r.Register(extension.KindTableCell, func(w util.BufWriter, _ []byte, n ast.Node, in bool) (ast.WalkStatus, error) {
		tag := "td"
		if n.Parent().Kind() == extension.KindTableHeader {
			tag = "th"
		}
		begin := "<" + tag
		if a := n.(*extension.TableCell).Alignment; a != extension.AlignNone {
			begin += ` style="text-align:` + a.String() + `"`
		}
		return element(w, in, begin+">", "</"+tag+">\n")
	})
}

func element(w util.BufWriter, in bool, begin, end string) (ast.WalkStatus, error) {
	s := begin
	if !in {
		s = end
	}
	_, err := w.WriteString(s)
	return ast.WalkContinue, err
}

// callOf returns the call of the verb for which a text is parsed.
func callOf(pc parser.Context) *script.Call { return pc.Get(callKey).(*script.Call) }
