package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"scripter/objectdb"
	"scripter/records"
	"scripter/valuetext"
)

// recordsFlags are the flags of "scripter records".
type recordsFlags struct {
	at       atFlag
	where    []string
	order    string
	after    string
	limit    int
	count    bool
	explain  bool
	indexes  []string
	drop     []string
	searched string
	search   string
}

func (t *tool) recordsCommand() *cobra.Command {
	var f recordsFlags
	c := &cobra.Command{
		Use:   "records [TABLE]",
		Short: "find records, and declare indexes",
		Long: `Records prints the records of TABLE for which all conditions hold: tables with the same
fields, as "records.add" makes them in scripts. A condition is a field, a comparison and a
value: name=Ada, age>=18, name~=Bob, "name begins A", "name contains d", "name is ada"
(without regard to case). A value in double quotes is a text. The last line has the cursor
of the next page, for --after.

--index declares an index, which finds by the values of one field, or of several in their
order: "name, -added". It is built at once, in steps that let others write between them.
Without TABLE, records lists the tables for which something is declared.`,
		Args:              args(0, 1),
		ValidArgsFunction: t.arguments(addressOf(objectdb.KindTable)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return t.view(c.Context(), t.listDeclared)
			}
			a, err := address(args[0])
			if err != nil {
				return err
			}
			if len(a) == 0 {
				return usageError{errors.New("the root itself has no records")}
			}
			if f.search != "" {
				return t.viewAt(c.Context(), f.at, func(tx *objectdb.Tx) error { return t.searchRecords(tx, a, &f) })
			}
			if len(f.indexes)+len(f.drop) > 0 || c.Flags().Changed("search-fields") {
				return t.declareIndexes(c.Context(), a, &f, c.Flags().Changed("search-fields"))
			}
			q, err := f.query()
			if err != nil {
				return usageError{err}
			}
			return t.viewAt(c.Context(), f.at, func(tx *objectdb.Tx) error { return t.printRecords(tx, a, q, &f) })
		},
	}
	c.Flags().StringArrayVar(&f.where, "where", nil, "condition, such as name=Ada or age>=18; may be repeated")
	c.Flags().StringVar(&f.order, "order", "", "fields to sort by, such as \"-added, name\"; by key without it")
	c.Flags().IntVar(&f.limit, "limit", 20, "the most records")
	c.Flags().StringVar(&f.after, "after", "", "cursor of the page before")
	c.Flags().BoolVar(&f.count, "count", false, "print only how many there are")
	c.Flags().BoolVar(&f.explain, "explain", false, "print how they are found, and which index helps")
	c.Flags().StringArrayVar(&f.indexes, "index", nil, "declare an index of these fields; may be repeated")
	c.Flags().StringArrayVar(&f.drop, "drop-index", nil, "drop an index; may be repeated")
	c.Flags().StringVar(&f.searched, "search-fields", "", "declare the fields that records.search searches; \"\" for none")
	c.Flags().StringVar(&f.search, "search", "", "print the records with these words, the best first")
	for _, name := range []string{"search", "where", "order", "limit", "after", "index", "drop-index", "search-fields"} {
		t.flag(c, name, nothing)
	}
	f.at.add(t, c)
	return c
}

// query returns the query of the flags.
func (f *recordsFlags) query() (q records.Query, err error) {
	for _, s := range f.where {
		c, err := records.ParseCondition(s)
		if err != nil {
			return q, err
		}
		q.Where = append(q.Where, c)
	}
	q.Limit, q.After = f.limit, f.after
	if f.limit < 1 || f.limit > records.MaxLimit {
		return q, fmt.Errorf("--limit is 1 to %d", records.MaxLimit)
	}
	q.Order, err = records.ParseOrder(f.order)
	return q, err
}

func (t *tool) printRecords(tx *objectdb.Tx, a objectdb.Address, q records.Query, f *recordsFlags) error {
	n, err := tx.Find(a)
	if err != nil {
		return err
	}
	if n.Kind() != objectdb.KindTable {
		return &objectdb.Error{Op: "records of", Address: a, Err: objectdb.ErrNotTable}
	}
	table := records.Table{Tx: tx, Node: n}
	switch {
	case f.explain:
		how, err := table.Explain(q)
		if err == nil {
			fmt.Fprintln(t.out, how)
		}
		return err
	case f.count:
		count, err := table.Count(q.Where)
		if err == nil {
			fmt.Fprintln(t.out, count)
		}
		return err
	}
	found, err := table.Find(q)
	if err != nil {
		return err
	}
	return t.printFound(tx, found)
}

// searchRecords prints the records that have some words: key, and the part of the text with the words.
func (t *tool) searchRecords(tx *objectdb.Tx, a objectdb.Address, f *recordsFlags) error {
	n, err := tx.Find(a)
	if err != nil {
		return err
	}
	if n.Kind() != objectdb.KindTable {
		return &objectdb.Error{Op: "records of", Address: a, Err: objectdb.ErrNotTable}
	}
	if f.limit < 1 || f.limit > records.MaxHits {
		return usageError{fmt.Errorf("--limit is 1 to %d in a search", records.MaxHits)}
	}
	hits, total, err := records.Table{Tx: tx, Node: n}.Search(records.Search{Words: f.search, Limit: f.limit})
	if err != nil {
		return err
	}
	rows, objects := [][]string{}, []any{}
	for _, h := range hits {
		plain := html.UnescapeString(strings.NewReplacer("<mark>", "", "</mark>", "").Replace(h.Snippet))
		rows = append(rows, []string{h.Record.Name(), plain})
		objects = append(objects, map[string]any{"key": h.Record.Name(), "snippet": h.Snippet})
	}
	if t.json {
		return t.printJSON(map[string]any{"found": objects, "total": total})
	}
	if err := t.columns(rows); err != nil {
		return err
	}
	most := ""
	if total == records.MaxRanked {
		most = " or more"
	}
	fmt.Fprintf(t.out, "%s%s\n", valuetext.Count(total, "record"), most)
	return nil
}

// printFound prints records as rows, with a column for each field that one of them has.
func (t *tool) printFound(tx *objectdb.Tx, found records.Found) error {
	header := []string{records.KeyField}
	column := map[string]int{}
	var rows [][]string
	objects := []any{}
	for _, n := range found.Records {
		fields, err := tx.Children(n)
		if err != nil {
			return err
		}
		row, object := []string{n.Name()}, map[string]any{records.KeyField: n.Name()}
		for _, f := range fields {
			text, value := "(table)", any(nil)
			if f.Kind() != objectdb.KindTable {
				v, err := tx.Value(f)
				if err != nil {
					return err
				}
				text, value = firstLine(valuetext.Format(v), 40), valuetext.JSON(v)
			}
			fold := objectdb.Fold(f.Name())
			i, known := column[fold]
			if !known {
				i = len(header)
				column[fold] = i
				header = append(header, f.Name())
			}
			row = append(row, slices.Repeat([]string{""}, max(0, i+1-len(row)))...)
			row[i], object[f.Name()] = text, value
		}
		rows, objects = append(rows, row), append(objects, object)
	}
	if t.json {
		return t.printJSON(map[string]any{"records": objects, "after": found.Next})
	}
	if len(rows) == 0 {
		fmt.Fprintln(t.out, "no records")
		return nil
	}
	for i := range rows {
		rows[i] = append(rows[i], slices.Repeat([]string{""}, len(header)-len(rows[i]))...)
	}
	if err := t.columns(append([][]string{header}, rows...)); err != nil {
		return err
	}
	if found.Next != "" {
		fmt.Fprintf(t.out, "more: --after %s\n", found.Next)
	}
	return nil
}

// listDeclared prints the tables for which something is declared.
func (t *tool) listDeclared(tx *objectdb.Tx) error {
	list, err := records.ReadDeclared(tx)
	if err != nil {
		return err
	}
	if t.json {
		objects := []any{}
		for _, d := range list {
			indexes := []any{}
			for _, x := range d.Indexes {
				indexes = append(indexes, map[string]any{"index": x.Text, "search": x.Words, "built": x.Built})
			}
			objects = append(objects, map[string]any{"table": d.Table.String(), "fields": d.Fields, "indexes": indexes})
		}
		return t.printJSON(objects)
	}
	for _, d := range list {
		fmt.Fprintf(t.out, "%s\n", oneLine(d.Table.String()))
		if len(d.Fields) > 0 {
			fmt.Fprintf(t.out, "  shape: %s\n", oneLine(strings.Join(d.Fields, ", ")))
		}
		for _, x := range d.Indexes {
			kind, state := "index", ""
			if x.Words {
				kind = "search"
			}
			switch {
			case !d.Exists:
				state = " (the table does not exist)"
			case !x.Built:
				state = " (not built yet)"
			}
			fmt.Fprintf(t.out, "  %s: %s%s\n", kind, oneLine(x.Text), state)
		}
	}
	return nil
}

// declareIndexes changes what is declared for a table, and builds its indexes.
func (t *tool) declareIndexes(ctx context.Context, a objectdb.Address, f *recordsFlags, search bool) error {
	return t.with(forWork, func(db *objectdb.DB) error {
		_, err := t.commit(ctx, db, func(tx *objectdb.Tx) error {
			if n, err := tx.Find(a); err != nil {
				return err
			} else if n.Kind() != objectdb.KindTable {
				return &objectdb.Error{Op: "records of", Address: a, Err: objectdb.ErrNotTable}
			}
			indexes, fields, err := records.DeclaredIndexes(tx, a)
			if err != nil {
				return err
			}
			for _, s := range f.drop {
				r, err := objectdb.ParseIndex(s)
				if err != nil {
					return usageError{err}
				}
				n := len(indexes)
				indexes = slices.DeleteFunc(indexes, func(other string) bool { return records.SameIndex(other, r) })
				if len(indexes) == n {
					return fmt.Errorf("%s has no index %s", a, records.Describe(r))
				}
			}
			for _, s := range f.indexes {
				r, err := objectdb.ParseIndex(s)
				if err != nil {
					return usageError{err}
				}
				if !slices.ContainsFunc(indexes, func(other string) bool { return records.SameIndex(other, r) }) {
					indexes = append(indexes, s)
				}
			}
			if search {
				fields = nil
				for part := range strings.SplitSeq(f.searched, ",") {
					if part = strings.TrimSpace(part); part != "" {
						fields = append(fields, part)
					}
				}
			}
			if err := records.DeclareIndexes(tx, a, indexes, fields); err != nil {
				return usageError{err}
			}
			return nil
		})
		if err != nil || t.json {
			return err
		}
		return db.View(ctx, t.listDeclared)
	})
}

// buildIndexes builds what is declared, after a command that may have changed much.
func (t *tool) buildIndexes(ctx context.Context, db *objectdb.DB) error {
	start, told := time.Now(), false
	return db.BuildIndexes(ctx, func() {
		if !told && isTerminal(t.err) && time.Since(start) > progressAfter {
			told = true
			fmt.Fprintln(t.err, "building the indexes of records …")
		}
	})
}
