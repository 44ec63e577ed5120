package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"scripter/rootname"
	"scripter/setup"
	"scripter/site"
	"scripter/textdiff"
)

type setupFlags struct {
	setup.Options
	dryRun, yes bool
	url         string
}

func (t *tool) setupCommand() *cobra.Command {
	var f setupFlags
	c := &cobra.Command{
		Use:   "setup nginx|apache|lighttpd|caddy",
		Short: "put Scripter behind the web server of this machine",
		Long: `Setup shows the files that put Scripter behind a web server of Debian, asks, and writes them. What was there is kept
beside them. It checks the configuration with the server's own test, and puts everything back if that fails. Then it makes the
root if there is none, starts scripter.socket and the web server, and ends with "scripter doctor".

The pages lie in --folder. nginx and Caddy get a site for the host --name, or, without --name, one that answers for every name
instead of the site that Debian brings; Apache and lighttpd answer with Scripter on all of their hosts. Files that were edited
since are not overwritten, unless --force is given.

The root is the one of /etc/scripter/scripter.conf. Without the units of the packages, or where systemd does not run, setup
writes the files and says what is left to do.`,
		Example: `  scripter setup nginx
  scripter setup nginx --name www.example.com --folder /srv/www
  scripter setup apache --dry-run`,
		Args:              args(1, 1),
		ValidArgsFunction: t.arguments(words(setup.Servers...)),
		Annotations:       map[string]string{makesRoot: "yes"},
		RunE: func(c *cobra.Command, args []string) error {
			f.Server = args[0]
			return t.setup(c.Context(), f)
		},
	}
	c.Flags().StringVar(&f.Name, "name", "", "host name of the site, for nginx and caddy")
	c.Flags().StringVar(&f.Folder, "folder", "/var/www/html", "folder of the pages")
	c.Flags().StringVar(&f.Socket, "socket", "/run/scripter/scripter.sock", "socket of scripter-fcgi")
	c.Flags().StringVar(&f.url, "url", "http://127.0.0.1/", "where doctor asks; \"\" for nowhere")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be done, and change nothing")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&f.Force, "force", false, "replace files that were edited")
	t.flag(c, "folder", folders)
	t.flag(c, "socket", files)
	t.flag(c, "name", nothing)
	t.flag(c, "url", nothing)
	return c
}

func (t *tool) setup(ctx context.Context, f setupFlags) error {
	for flag, value := range map[string]string{"folder": f.Folder, "socket": f.Socket} {
		if !filepath.IsAbs(value) || strings.ContainsAny(value, " \t\r\n\"'\\{}$;#") {
			return usageError{fmt.Errorf("--%s is %q, not an absolute path without blanks and quotes", flag, value)}
		}
	}
	if strings.ContainsAny(f.Name, " \t\r\n\"'\\{}$;#/") {
		return usageError{fmt.Errorf("--name is %q, not a host name", f.Name)}
	}
	p, err := setup.New(f.Options)
	if errors.Is(err, setup.ErrServer) {
		return usageError{err}
	}
	if errors.Is(err, setup.ErrEdited) {
		return hintError{err, "--force replaces it, and keeps it beside the new one"}
	}
	if err != nil {
		return err
	}
	t.showPlan(p)
	if f.dryRun {
		return nil
	}
	if len(p.Changes) > 0 && !f.yes && !t.agrees() {
		return errors.New("nothing was changed")
	}
	if err := p.Apply(time.Now()); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return hintError{err, "setup writes below /etc: run it as the superuser"}
		}
		return err
	}
	for _, command := range append(p.Enable, p.Test) {
		if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return errors.Join(fmt.Errorf("%s: %w: %s\nnothing was changed", strings.Join(command, " "), err, out), p.Undo())
		}
	}
	for _, c := range p.Changes {
		if b := c.Backup(); b != "" {
			fmt.Fprintf(t.out, "kept %s\n", b)
		}
	}
	return t.startSite(ctx, p, f)
}

// showPlan shows the differences and the commands.
func (t *tool) showPlan(p *setup.Plan) {
	for _, c := range p.Changes {
		switch {
		case c.Text == "":
			t.printStyled(bold, "--- "+c.Path+" is disabled")
		case c.Exists:
			t.printDifference(textdiff.Unified(c.Path, c.Path, c.Before, c.Text, 3))
		default:
			t.printStyled(bold, "+++ "+c.Path)
			fmt.Fprint(t.out, c.Text)
		}
	}
	if len(p.Changes) == 0 {
		fmt.Fprintln(t.out, "the files are as setup writes them")
	}
	for _, command := range append(p.Enable, p.Test) {
		fmt.Fprintln(t.out, "$", strings.Join(command, " "))
	}
}

// agrees asks on a terminal whether to go on.
func (t *tool) agrees() bool {
	if !isTerminal(t.in) {
		fmt.Fprintln(t.err, "scripter: nobody can be asked here: say --yes")
		return false
	}
	fmt.Fprint(t.err, "write this? [y/N] ")
	answer, _ := bufio.NewReader(t.in).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// startSite makes the root, starts the daemon's socket and the web server, and asks the doctor.
func (t *tool) startSite(ctx context.Context, p *setup.Plan, f setupFlags) error {
	root := t.root
	if root == "" {
		var err error
		if root, err = site.SystemRoot(); err != nil {
			return err
		}
	}
	_, units := os.Stat("/lib/systemd/system/scripter.socket")
	_, runs := os.Stat("/run/systemd/system")
	if root == "" || units != nil || runs != nil {
		fmt.Fprintf(t.out, "left to do: make a root, start scripter-fcgi with --listen unix:%s, restart %s, "+
			"and run \"scripter doctor --url %s\"\n", f.Socket, p.Service, f.url)
		return nil
	}
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) && !rootname.IsURL(root) {
		if err := t.asOwner(ctx, root, "init"); err != nil {
			return err
		}
	}
	commands := [][]string{{"systemctl", "enable", "--quiet", "--now", "scripter.socket"}}
	changed, err := setSocketGroup(p.Group)
	if err != nil {
		return err
	}
	if changed {
		commands = append([][]string{{"systemctl", "daemon-reload"}, {"systemctl", "stop", "scripter.service", "scripter.socket"}},
			commands...)
	}
	commands = append(commands, []string{"systemctl", "enable", "--quiet", "scripter.service"},
		[]string{"systemctl", "enable", "--quiet", p.Service}, []string{"systemctl", "reload-or-restart", p.Service})
	for _, command := range commands {
		if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, out)
		}
	}
	if f.url == "" {
		return nil
	}
	awaitServer(ctx, f.url)
	if f.Name != "" && f.url == "http://127.0.0.1/" {
		return t.asOwner(ctx, root, "doctor", "--url", f.url, "--header", "Host: "+f.Name)
	}
	return t.asOwner(ctx, root, "doctor", "--url", f.url)
}

// setSocketGroup lets the members of a group connect to the daemon, and reports whether that is a change. The group ""
// is the one that scripter.socket names.
func setSocketGroup(group string) (changed bool, err error) {
	const file = "/etc/systemd/system/scripter.socket.d/scripter-setup.conf"
	if group == "" {
		err := os.Remove(file)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	text := "# Written by \"scripter setup\".\n[Socket]\nSocketGroup=" + group + "\n"
	if before, err := os.ReadFile(file); err == nil && string(before) == text {
		return false, nil
	}
	return true, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644))
}

// awaitServer waits until the web server accepts connections: systemd may say earlier that it runs.
func awaitServer(ctx context.Context, address string) {
	u, err := url.Parse(address)
	if err != nil {
		return // doctor says so
	}
	port := cmp.Or(u.Port(), map[string]string{"https": "443"}[u.Scheme], "80")
	for range 50 {
		if c, err := net.Dial("tcp", net.JoinHostPort(u.Hostname(), port)); err == nil {
			c.Close()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// asOwner runs a command of this program as the owner of the root, or of its folder.
func (t *tool) asOwner(ctx context.Context, root string, words ...string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, program, append([]string{"--root", root}, words...)...)
	c.Stdout, c.Stderr, c.Dir = t.out, t.err, "/"
	info, err := os.Stat(root)
	if err != nil {
		info, err = os.Stat(filepath.Dir(root))
	}
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 && owner.Uid != 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
	}
	if err := c.Run(); err != nil {
		return fmt.Errorf("scripter %s: %w", words[0], err)
	}
	return nil
}
