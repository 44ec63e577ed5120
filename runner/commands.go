package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"scripter/objectdb"
	"scripter/script"
	"scripter/script/lint"
	"scripter/site"
	verbjson "scripter/verbs/json"
)

// This file has what the commands of an author run without a request.

// outside calls fn with a run whose thread was started, with the limits of the script
// at a.
func (r *Runner) outside(ctx context.Context, o Options, a objectdb.Address, fn func(*Run) error) error {
	_, err := r.Run(ctx, o, func(run *Run) error {
		run.Script = func() objectdb.Address { return a }
		var names *script.Table
		var host any = run
		if r.config.Outside != nil {
			var err error
			if names, host, err = r.config.Outside(run); err != nil {
				return err
			}
		}
		run.Start(names, host)
		return fn(run)
	})
	return err
}

// testVerbs returns the verbs that only tests see.
func (r *Runner) testVerbs() *script.VerbSet {
	if r.config.TestVerbs == nil {
		return nil
	}
	return r.config.TestVerbs()
}

// Call runs the script at a with texts as arguments. It returns what the script has
// written, followed by the text of what it returns. If the script fails, the text is what it had
// written until then.
func (r *Runner) Call(ctx context.Context, o Options, a objectdb.Address, args []string) (string, error) {
	values := make([]script.Value, len(args))
	for i, s := range args {
		values[i] = s
	}
	return r.CallWith(ctx, o, a, With{Args: values})
}

// With says how CallWith calls a script.
type With struct {
	Args  []script.Value
	Names map[string]script.Value // found beside those of Config.Outside
	// Then is called with the text when the script has ended without an error, in the same transaction.
	// If it fails, so does the run. It may be nil.
	Then func(run *Run, text string) error
}

// CallWith is Call with arguments of any kind.
func (r *Runner) CallWith(ctx context.Context, o Options, a objectdb.Address, w With) (string, error) {
	text := ""
	err := r.outside(ctx, o, a, func(run *Run) error {
		text = ""
		if own := run.Thread.Names(); own != nil {
			for name, v := range w.Names {
				own.Set(name, v)
			}
		}
		v, err := run.Thread.Run(a, w.Args...)
		written, failed := run.Output().Text()
		if text = written; err != nil || failed != nil {
			return cmp.Or(err, failed)
		}
		result, err := run.Thread.Text(v)
		if text += result; err == nil && w.Then != nil {
			err = w.Then(run, text)
		}
		return err
	})
	return text, err
}

// Evaluated is the result of Eval.
type Evaluated struct {
	Written string            // what the verb write wrote
	Texts   []string          // the texts of the values, nil as "nil"
	JSON    []json.RawMessage // the values as json.encode writes them, else their texts
}

// Eval runs typed Lua in one transaction. It returns the values of an expression, or what
// the statements return. The changes are committed unless it fails or o discards them. If it fails,
// the result has what was written until then.
func (r *Runner) Eval(ctx context.Context, o Options, typed string) (Evaluated, error) {
	var e Evaluated
	err := r.outside(ctx, o, nil, func(run *Run) error {
		e = Evaluated{}
		err := e.run(run.Thread, typed)
		var failed error
		e.Written, failed = run.Output().Text()
		return cmp.Or(err, failed)
	})
	return e, err
}

// run sets the values that typed Lua gives.
func (e *Evaluated) run(t *script.Thread, typed string) error {
	values, err := t.Eval("typed", typed)
	if err != nil {
		return err
	}
	for _, v := range values {
		text, err := t.Text(v)
		if err != nil {
			return err
		}
		if v == nil {
			text = "nil"
		}
		j, err := verbjson.Encode(t, v)
		if err != nil {
			j, err = verbjson.Encode(t, strings.ToValidUTF8(text, "�"))
		}
		if err != nil {
			return err
		}
		e.Texts, e.JSON = append(e.Texts, text), append(e.JSON, j)
	}
	return nil
}

// Linted is the result of Lint.
type Linted struct {
	Scripts  int // looked at
	Pages    int // looked at, by those who know pages
	Findings []lint.Finding
}

// Lint looks for likely mistakes in the script at a, or in all scripts of the table at
// a, and in the tables of user.webserver whose rows are named by addresses. It runs
// nothing. It passes over rocks, which others have written for other environments, unless a is one.
func (r *Runner) Lint(ctx context.Context, a objectdb.Address) (Linted, error) {
	var l Linted
	err := r.outside(ctx, Options{ReadOnly: true}, nil, func(run *Run) error {
		inTest := run.newThread(run.Thread.Names(), r.testVerbs(), run.Thread.Host())
		defer inTest.Close()
		err := run.Tx.Walk(a, func(at objectdb.Address, n *objectdb.Node) error {
			if n.Kind() != objectdb.KindScript || script.IsRock(at) && !script.IsRock(a) {
				return nil
			}
			v, err := run.Tx.Value(n)
			if err != nil {
				return err
			}
			thread := run.Thread
			if site.IsInTests(at) {
				thread = inTest
			}
			found, err := lint.Script(thread, at.String(), string(v.(objectdb.Script)))
			l.Scripts++
			l.Findings = append(l.Findings, found...)
			return err
		})
		if err != nil {
			return err
		}
		found, err := lintRows(run.Tx, a)
		l.Findings = append(l.Findings, found...)
		return err
	})
	return l, err
}

// View calls fn with a run that has a thread, as a script at a would have it, and that cannot
// write. It is for editors: see package lint.
func (r *Runner) View(ctx context.Context, a objectdb.Address, fn func(*Run) error) error {
	return r.outside(ctx, Options{ReadOnly: true, Test: site.IsInTests(a)}, a, fn)
}

// LintSource looks for likely mistakes in a source that need not be stored at a.
func (r *Runner) LintSource(ctx context.Context, a objectdb.Address, source string) (found []lint.Finding, err error) {
	err = r.View(ctx, a, func(run *Run) error {
		found, err = lint.Script(run.Thread, a.String(), source)
		return err
	})
	return found, err
}

// Types returns what an editor with lua-language-server needs to know, as file names and
// contents. names has the types of the names of a request: see [lint.Types].
func (r *Runner) Types(ctx context.Context, names map[string]string) (map[string]string, error) {
	var files map[string]string
	err := r.outside(ctx, Options{ReadOnly: true}, nil, func(run *Run) (err error) {
		files, err = lint.Types(run.Thread, names, r.testVerbs().Verbs())
		return err
	})
	return files, err
}
