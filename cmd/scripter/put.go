package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"scripter/gateway"
	"scripter/lua"
	"scripter/objectdb"
	"scripter/runner"
	"scripter/valuetext"
)

// put is one run of "scripter put".
type put struct {
	kind, file, mime string
	force, parents   bool
}

func (t *tool) putCommand() *cobra.Command {
	var p put
	var f changeFlags
	c := &cobra.Command{
		Use:   "put ADDRESS [VALUE]",
		Short: "store a value, from the command line, a file or stdin",
		Long: `Put stores a value and prints what it did. The value is the argument, or the
content of --file, or that of stdin for "-" or without either. The kind is that of
--kind; else that of the existing object; else that of the file's suffix (.lua
script, .txt text, .png binary); else a binary with --type, and a string without.
A missing table above it is an error, unless --parents is given. A script that
does not compile is refused, unless --force is given. Put warns of names in
a script that nothing defines. "scripter undo" takes a put back.`,
		Args:              args(1, 2),
		ValidArgsFunction: t.arguments(addressOf(), nothing),
		RunE: func(c *cobra.Command, args []string) error {
			a, err := address(args[0])
			if err != nil {
				return err
			}
			if media, _, err := mime.ParseMediaType(p.mime); p.mime != "" &&
				(err != nil || !strings.Contains(media, "/")) {
				return usageError{fmt.Errorf("--type %q is no MIME type such as image/png", p.mime)}
			}
			text, err := p.read(args[1:], t.in)
			if err != nil {
				return err
			}
			done, err := t.change(c.Context(), f, func(tx *objectdb.Tx) ([]doneObject, error) {
				o, err := p.store(tx, a, text)
				return []doneObject{o}, err
			})
			if err != nil || done[0].kind != objectdb.KindScript || done[0].change == "unchanged" {
				return err
			}
			return t.warnOfNames(c.Context(), done[0].address)
		},
	}
	c.Flags().StringVar(&p.kind, "kind", "",
		"boolean, number, string, text, outline, script, date, binary, list, address or table")
	c.Flags().StringVar(&p.file, "file", "", `file that holds the value; "-" is stdin`)
	c.Flags().StringVar(&p.mime, "type", "", "MIME type of a binary")
	t.flag(c, "kind", kindNames)
	t.flag(c, "file", files)
	t.flag(c, "type", mimeTypes)
	c.Flags().BoolVar(&p.force, "force", false, "store a script that does not compile")
	parentsFlag(c, &p.parents)
	f.add(c)
	return c
}

// warnOfNames warns of names in a new script that nothing defines: each request for it
// would fail, and only "scripter lint" would tell.
func (t *tool) warnOfNames(ctx context.Context, a objectdb.Address) error {
	return t.with(forReading, func(db *objectdb.DB) error {
		l, err := gateway.New(gateway.Options{DB: db}).Runner().Lint(ctx, a)
		if err != nil {
			return err
		}
		for _, f := range l.Findings {
			if f.Rule == "undefined" || f.Rule == "missing" {
				t.warn("%s", f)
			}
		}
		return nil
	})
}

// read reads the text of the value.
func (p *put) read(args []string, stdin io.Reader) (string, error) {
	switch {
	case len(args) > 0 && p.file != "":
		return "", usageError{errors.New("put takes a VALUE or --file, not both")}
	case strings.EqualFold(p.kind, objectdb.KindTable.String()):
		return "", nil
	case len(args) > 0 && args[0] != "-":
		return args[0], nil
	case p.file != "" && p.file != "-":
		b, err := os.ReadFile(p.file)
		return string(b), err
	}
	p.file = "-"
	b, err := io.ReadAll(stdin)
	if err != nil {
		return "", fmt.Errorf("read stdin: %w", err)
	}
	return string(b), nil
}

// store stores the value of a text at a.
func (p *put) store(tx *objectdb.Tx, a objectdb.Address, text string) (o doneObject, err error) {
	k, err := p.kindAt(tx, a)
	if err != nil {
		return o, err
	}
	var v objectdb.Value // nil: a table
	if k != objectdb.KindTable {
		if v, err = p.value(tx, a, k, text); err != nil {
			return o, err
		}
	}
	if o.tables, err = missingTables(tx, a, p.parents); err != nil {
		return o, err
	}
	old, err := tx.Find(a)
	if err != nil && !errors.Is(err, objectdb.ErrNotFound) {
		return o, err
	}
	o.change = "added"
	if err == nil {
		was, err := valueOf(tx, old)
		if err != nil {
			return o, err
		}
		o.change, o.was = "changed", old.Kind()
		if old.Kind() == k && objectdb.Equal(was, v) {
			o.change = "unchanged"
		}
	}
	if o.change != "unchanged" {
		if k == objectdb.KindTable {
			err = tx.NewTable(a)
		} else {
			err = tx.Put(a, v)
		}
		if err != nil {
			return o, err
		}
	}
	return o, o.describe(tx, a)
}

// value returns the value of kind k that text stands for.
func (p *put) value(tx *objectdb.Tx, a objectdb.Address, k objectdb.Kind, text string) (objectdb.Value, error) {
	if p.mime != "" && k != objectdb.KindBinary {
		return nil, usageError{hintError{fmt.Errorf("--type is for a binary, and this is a %s", k),
			"--kind binary makes it one"}}
	}
	if k == objectdb.KindString && p.file == "-" {
		text = strings.TrimSuffix(text, "\n") // echo adds one
	}
	v, err := parseValue(k, text)
	if err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case objectdb.Script:
		if err := runner.Compiles(tx, a, x); err != nil && !p.force {
			hint := "nothing was stored; --force stores it all the same"
			if set := runner.LimitOf(err); set != "" {
				hint = "the setting " + set + " is the limit; " + hint
			}
			return nil, hintError{syntaxDetail(err), hint}
		}
	case objectdb.Binary:
		x.Type = p.typeAt(tx, a)
		v = x
	}
	return v, nil
}

// parseValue returns the value of a kind that a word of the command line stands for.
func parseValue(k objectdb.Kind, text string) (objectdb.Value, error) {
	v, err := valuetext.Parse(k, text)
	if err != nil {
		return nil, usageError{err}
	}
	return v, nil
}

// syntaxDetail returns the error of a script that does not compile with all that is
// known of its place: the column, and the text of the line.
func syntaxDetail(err error) error {
	var s *lua.SyntaxError
	if errors.As(err, &s) {
		return errors.New(s.Detail())
	}
	return err
}

// kindAt chooses the kind of the value.
func (p *put) kindAt(tx *objectdb.Tx, a objectdb.Address) (objectdb.Kind, error) {
	if p.kind != "" {
		k, err := objectdb.ParseKind(p.kind)
		if err != nil {
			return 0, usageError{err}
		}
		return k, nil
	}
	o, err := tx.Stat(a)
	if err == nil && o.Kind != objectdb.KindTable {
		return o.Kind, nil
	}
	if err != nil && !objectdb.IsMissing(err) {
		return 0, err
	}
	if p.mime != "" {
		return objectdb.KindBinary, nil
	}
	return valuetext.KindOf(p.file), nil
}

// typeAt chooses the MIME type of a binary: --type, that of the file's
// suffix, that of the binary that is there.
func (p *put) typeAt(tx *objectdb.Tx, a objectdb.Address) string {
	if p.mime != "" {
		return p.mime
	}
	if t := mime.TypeByExtension(filepath.Ext(p.file)); t != "" {
		return t
	}
	if o, err := tx.Stat(a); err == nil && o.Type != "" {
		return o.Type
	}
	return "application/octet-stream"
}

// valueOf returns the value of an object, or nil for a table.
func valueOf(tx *objectdb.Tx, n *objectdb.Node) (objectdb.Value, error) {
	if n.Kind() == objectdb.KindTable {
		return nil, nil
	}
	return tx.Value(n)
}
