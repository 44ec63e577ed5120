package browsertest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"scripter/internal/servertest"
)

// started is the one browser of a test process; its tabs are in contexts below ctx.
var started struct {
	sync.Mutex
	ctx    context.Context
	cmd    *exec.Cmd
	home   string
	output bytes.Buffer
}

// theBrowser returns the context of the browser, which the first call starts.
func theBrowser(t testing.TB) context.Context {
	t.Helper()
	servertest.Need(t, "chromium")
	b := &started
	b.Lock()
	defer b.Unlock()
	if b.ctx != nil {
		return b.ctx
	}
	program, err := servertest.Find("chromium")
	if err != nil {
		t.Fatal(err)
	}
	if b.home, err = os.MkdirTemp("", "scripter-chromium-"); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program),
		chromedp.Env("HOME="+b.home),
		chromedp.UserDataDir(b.home+"/profile"),
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		// A page that asks another host fails, with the net and without it.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
		chromedp.CombinedOutput(&b.output),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			// If the test process dies, the browser's pipe ends, and then the browser does.
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			b.cmd = cmd
		}))
	ctx, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start %s: %v\n%s", program, err, &b.output)
	}
	b.ctx = ctx
	return ctx
}

// Close ends the browser, if a test has started it.
func Close() {
	b := &started
	b.Lock()
	defer b.Unlock()
	if b.ctx != nil {
		ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
		chromedp.Cancel(ctx) // what it does not end is killed
		cancel()
		b.ctx = nil
	}
	if b.cmd != nil && b.cmd.Process != nil {
		syscall.Kill(-b.cmd.Process.Pid, syscall.SIGKILL)
	}
	if b.home != "" {
		os.RemoveAll(b.home)
	}
}
