package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// completionScripts are the completion scripts of the shells. They call "scripter __offers".
//
//go:embed completion
var completionScripts embed.FS

var shells = []string{"bash", "zsh", "fish"}

func (t *tool) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "print a script that completes commands, addresses and values in a shell",
		Long: `Completion prints a script that makes the shell complete subcommands, flags,
addresses, settings and more with the Tab key. To install it:

  bash   scripter completion bash > ~/.local/share/bash-completion/completions/scripter
         or, without the package bash-completion, this line in ~/.bashrc:
         source <(scripter completion bash)
  zsh    scripter completion zsh > ~/.zfunc/_scripter
         with these lines in ~/.zshrc:
         fpath+=(~/.zfunc); autoload -Uz compinit; compinit
  fish   scripter completion fish > ~/.config/fish/completions/scripter.fish

Addresses are completed from the root that --root names earlier on the line, or that
of SCRIPTER_ROOT, or ./scripter.root. Completion changes nothing there.`,
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(words(shells...)),
		RunE: func(_ *cobra.Command, args []string) error {
			script, err := completionScripts.ReadFile("completion/scripter." + args[0])
			if err != nil {
				return usageError{fmt.Errorf("there is no completion for %q: it is for %s", args[0], strings.Join(shells, ", "))}
			}
			_, err = t.exact.Write(script)
			return err
		},
	}
}

// offersCommand answers the completion scripts. It prints no error.
//
//	scripter __offers bash WORD LINE        WORD: what bash replaces; LINE: the line before the cursor
//	scripter __offers zsh|fish WORD… TYPED  WORD: those before the one that is TYPED
//
// The first line of the answer is "files" or "folders" if the shell itself completes those,
// "open" if no blank follows the only offer, and otherwise "offers". Each other line is an offer.
// For bash, it replaces WORD. For zsh and fish, it is the text, a tab and a description; for
// zsh, "+" precedes it, or "-" if no blank follows.
func (t *tool) offersCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "__offers",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			answer := "offers\n"
			switch {
			case len(args) == 3 && args[0] == "bash":
				answer = t.offersForBash(c.Context(), args[1], args[2])
			case len(args) >= 2 && (args[0] == "zsh" || args[0] == "fish"):
				answer = t.offersFor(c.Context(), args[0], args[1:])
			}
			_, err := io.WriteString(t.exact, answer)
			return err
		},
	}
}

// offer is a word that may stand on the command line.
type offer struct {
	text, about string
	open        bool // more of the word follows
}

// asked has the values that the library cannot pass between offers and a completer.
type asked struct {
	describe bool            // the shell shows descriptions
	open     map[string]bool // the texts of offers that more of the word follows
	paths    string          // see offered
}

// offered has the words that may replace a word.
type offered struct {
	list  []offer
	paths string // files or folders: the shell completes them if list is empty
}

func (o *offered) kind() string {
	switch {
	case len(o.list) == 0 && o.paths != "":
		return o.paths
	case len(o.list) == 1 && o.list[0].open:
		return "open"
	}
	return "offers"
}

// offers returns the words that may replace the last word. The library completes commands and
// flags, and the functions of arguments and flag complete the rest.
func (t *tool) offers(ctx context.Context, words []string, describe bool) offered {
	for i := range words[:len(words)-1] {
		words[i] = expandWord(words[i])
	}
	var out bytes.Buffer
	inner := &tool{in: strings.NewReader(""), out: io.Discard, exact: io.Discard, err: io.Discard,
		tab: asked{describe: describe, open: map[string]bool{}}}
	c := inner.command()
	c.SetArgs(append([]string{cobra.ShellCompRequestCmd}, words...))
	c.SetOut(&out)
	c.SetErr(io.Discard)
	if err := c.ExecuteContext(ctx); err != nil {
		return offered{}
	}
	result := offered{paths: inner.tab.paths}
	for line := range strings.Lines(out.String()) {
		text, about, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if text != "" && !strings.HasPrefix(text, ":") && oneLine(text) == text {
			result.list = append(result.list, offer{text, oneLine(about), inner.tab.open[text]})
		}
	}
	return result
}

// expandWord does with a word what a shell does with ~ and $NAME.
func expandWord(word string) string {
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(word, "~/") {
		word = home + word[1:]
	}
	return os.Expand(word, func(name string) string {
		if value, ok := os.LookupEnv(name); ok {
			return value
		}
		return "$" + name
	})
}

// offersFor answers zsh and fish.
func (t *tool) offersFor(ctx context.Context, shell string, words []string) string {
	typed := words[len(words)-1]
	o := t.offers(ctx, words, true)
	var b strings.Builder
	fmt.Fprintln(&b, o.kind())
	for _, offer := range o.list {
		switch {
		case shell == "fish":
			b.WriteString(flagBefore(typed)) // fish replaces the whole word
		case offer.open:
			b.WriteByte('-')
		default:
			b.WriteByte('+')
		}
		fmt.Fprintf(&b, "%s\t%s\n", offer.text, offer.about)
	}
	return b.String()
}

// flagBefore returns "--name=" of a word that begins so.
func flagBefore(word string) string {
	if name, _, ok := strings.Cut(word, "="); ok && strings.HasPrefix(name, "-") {
		return name + "="
	}
	return ""
}

// completer returns the words that may replace typed. args are the arguments of c before it.
type completer func(t *tool, c *cobra.Command, args []string, typed string) []offer

// arguments returns the completion of a command's arguments, with one completer for each. If the
// usage has "…" or "...", the last completer also completes all further arguments.
func (t *tool) arguments(list ...completer) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		i := len(args)
		if strings.Contains(c.Use, "…") || strings.Contains(c.Use, "...") {
			i = min(i, len(list)-1)
		}
		if i >= len(list) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return t.complete(list[i], c, args, typed)
	}
}

// flag makes f complete the values of a flag.
func (t *tool) flag(c *cobra.Command, name string, f completer) {
	err := c.RegisterFlagCompletionFunc(name,
		func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			return t.complete(f, c, args, typed)
		})
	if err != nil {
		panic(err) // there is no such flag
	}
}

// complete calls f, and returns its offers in the form of the library.
func (t *tool) complete(
	f completer, c *cobra.Command, args []string, typed string,
) (list []string, _ cobra.ShellCompDirective) {
	for _, o := range f(t, c, args, typed) {
		if o.open && t.tab.open != nil {
			t.tab.open[o.text] = true
		}
		list = append(list, o.text+"\t"+o.about)
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// nothing completes values that cannot be known.
func nothing(*tool, *cobra.Command, []string, string) []offer { return nil }

// files lets the shell complete the path of a file.
func files(t *tool, _ *cobra.Command, _ []string, _ string) []offer {
	t.tab.paths = "files"
	return nil
}

// folders lets the shell complete the path of a folder.
func folders(t *tool, _ *cobra.Command, _ []string, _ string) []offer {
	t.tab.paths = "folders"
	return nil
}

// fileAfterAt completes the path of a file after "@".
func fileAfterAt(_ *tool, _ *cobra.Command, _ []string, typed string) (list []offer) {
	path, ok := strings.CutPrefix(typed, "@")
	if !ok {
		return nil
	}
	folder, begin := filepath.Split(path)
	entries, err := os.ReadDir(expandWord(filepath.Join(folder, ".")))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), begin) && (begin != "" || e.Name()[0] != '.') {
			o := offer{text: "@" + folder + e.Name()}
			if e.IsDir() {
				o.text, o.open = o.text+"/", true
			}
			list = append(list, o)
		}
	}
	return list
}

// words completes one of some words.
func words(list ...string) completer {
	return func(_ *tool, _ *cobra.Command, _ []string, typed string) (offers []offer) {
		for _, w := range list {
			offers = append(offers, offer{text: w})
		}
		return beginning(typed, offers)
	}
}

// beginning returns the offers that begin with what was typed, ignoring case.
func beginning(typed string, offers []offer) (list []offer) {
	for _, o := range offers {
		if len(o.text) >= len(typed) && strings.EqualFold(o.text[:len(typed)], typed) {
			list = append(list, o)
		}
	}
	return list
}
