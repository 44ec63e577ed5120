package main

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var manFolder = flag.String("man", "", "folder where TestManPages writes the manual pages")

// TestManPages writes the manual pages of the three programs, as "make packages" does, and checks that
// man reads them without a complaint.
func TestManPages(t *testing.T) {
	folder := cmp.Or(*manFolder, t.TempDir())
	require.NoError(t, os.MkdirAll(folder, 0o755))
	c := (&tool{}).command()
	forManPages(c)
	require.NoError(t, doc.GenManTree(c, &doc.GenManHeader{Section: "1", Source: "Scripter", Manual: "Scripter"}, folder))
	for _, c := range daemonCommands(t) {
		forManPages(c)
		require.NoError(t, doc.GenManTree(c, &doc.GenManHeader{Section: "8", Source: "Scripter", Manual: "Scripter"}, folder))
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(t, err)
	assert.Greater(t, len(files), 45)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		text = tidyManPage(text)
		require.NoError(t, os.WriteFile(name, text, 0o644))
		assert.Regexp(t, `(?m)^\.SH NAME\n`, string(text), name)
	}
	if _, err := exec.LookPath("man"); err != nil {
		return
	}
	// The option --warnings of groff tells what cannot be formatted.
	for _, name := range files {
		show := exec.Command("man", "--warnings", "-l", name)
		show.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANWIDTH=80", "MANROFFSEQ=")
		var complaints bytes.Buffer
		show.Stderr = &complaints
		out, err := show.Output()
		require.NoError(t, err, name)
		assert.NotEmpty(t, out, name)
		assert.Empty(t, complaints.String(), name)
	}
}

// forManPages prepares the help of a command for the library, which takes it for Markdown: lines that begin with blanks
// are kept as they are, and characters that Markdown would take for marks stay.
func forManPages(c *cobra.Command) {
	c.DisableAutoGenTag = true
	c.InitDefaultHelpFlag()
	if c.Long == "" {
		c.Long = strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
	}
	var lines []string
	for line := range strings.Lines(c.Long) {
		if strings.HasPrefix(line, "  ") {
			if len(lines) > 0 && !strings.HasPrefix(lines[len(lines)-1], "  ") && lines[len(lines)-1] != "\n" {
				lines = append(lines, "\n")
			}
			lines = append(lines, "  "+line) // four blanks: a block of code
			continue
		}
		if len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], "  ") && line != "\n" {
			lines = append(lines, "\n")
		}
		lines = append(lines, markdownMarks.ReplaceAllString(line, `\$0`))
	}
	c.Long = strings.Join(lines, "")
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			forManPages(sub)
		}
	}
}

var markdownMarks = regexp.MustCompile("[\\\\*_<>\\[\\]`#]")

var (
	doubleBlank = regexp.MustCompile(`\n{3,}`)
	// manOption is an option as the library writes it: its names, its default and its meaning.
	manOption = regexp.MustCompile(`(?m)^(?:\.PP\n)?(\\fB-.*\\fP)(\[=\S+\]|=\S*)?\n\t(.*)\n`)
)

// tidyManPage writes options as manual pages do: a tagged paragraph for each, with a value instead of the default.
func tidyManPage(text []byte) []byte {
	text = manOption.ReplaceAllFunc(text, func(option []byte) []byte {
		m := manOption.FindSubmatch(option)
		value := ` \fIVALUE\fP`
		if bytes.HasPrefix(m[2], []byte("[")) {
			value = ""
		}
		return fmt.Appendf(nil, ".TP\n%s%s\n%s\n", m[1], value, m[3])
	})
	return doubleBlank.ReplaceAll(text, []byte("\n\n"))
}

// optionLine is a line of what Go's package flag prints for --help.
var optionLine = regexp.MustCompile(`(?m)^  -([a-z-]+)(?: (\S+))?\n    \t(.*)$`)

// daemonCommands describes scripter-fcgi and scripter-cgi as commands, for their manual pages.
func daemonCommands(t *testing.T) []*cobra.Command {
	t.Helper()
	fcgi := &cobra.Command{
		Use:   "scripter-fcgi",
		Short: "answer requests behind a FastCGI socket",
		Long: `Scripter-fcgi answers the requests of web servers for one root. It is started by systemd (scripter.service), by
Apache's mod_fcgid, or by hand.

The root is the one that --root names, else SCRIPTER_ROOT, else scripter.conf beside the program, else
/etc/scripter/scripter.conf.

SIGHUP opens the log file again and takes what scripter.conf says now. SIGTERM, SIGINT and SIGUSR1 end the program when the
requests under way are finished.`,
		Example: "  scripter-fcgi --root scripter.root --listen unix:/run/scripter/scripter.sock",
		Run:     func(*cobra.Command, []string) {},
	}
	help, err := exec.Command("go", "run", "../scripter-fcgi", "--help").CombinedOutput()
	require.NoError(t, err, "%s", help)
	options := optionLine.FindAllStringSubmatch(string(help), -1)
	require.Greater(t, len(options), 12, "%s", help)
	for _, o := range options {
		fcgi.Flags().String(o[1], "", o[3])
		if o[2] == "" {
			fcgi.Flags().Lookup(o[1]).NoOptDefVal = "true"
		}
	}
	cgi := &cobra.Command{
		Use:   "scripter-cgi",
		Short: "answer one request as a CGI program",
		Long: `Scripter-cgi answers one request and exits. A web server starts it, as the file Scripter.acgi in its folder cgi-bin, and
says everything in variables. If its name begins with nph-, it sends the complete response past Apache.

The root is the one that SCRIPTER_ROOT names, else the second line of the two-line file through which it was started, else
scripter.conf beside the program, else /etc/scripter/scripter.conf. A two-line file is executable:

  #!/usr/bin/scripter-cgi
  root: /srv/scripter/data/scripter.root

Where scripter-fcgi serves the same root as the same user, the request is handed over to it.`,
		Run: func(*cobra.Command, []string) {},
	}
	return []*cobra.Command{fcgi, cgi}
}
