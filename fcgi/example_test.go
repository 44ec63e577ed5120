package fcgi_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"scripter/fcgi"
	"scripter/internal/fcgitest"
)

func Example() {
	dir, err := os.MkdirTemp("", "fcgi")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	spec := "unix:" + filepath.Join(dir, "socket")

	l, err := fcgi.Listen(spec, fcgi.ListenOptions{Mode: 0o660})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := &fcgi.Server{Handler: func(ctx context.Context, r *fcgi.Request) {
		fmt.Fprintf(r.Stdout, "Content-Type: text/plain\r\n\r\nThis is %s.", r.Params["SCRIPT_NAME"])
	}}
	go s.Serve(l)
	defer s.Shutdown(context.Background())

	c, err := fcgitest.Dial(context.Background(), spec)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	params := map[string]string{"SCRIPT_NAME": "/samples.hello.fcgi"}
	var answer strings.Builder
	status, err := c.Do(context.Background(), params, nil, &answer, os.Stderr)
	fmt.Printf("%d %v %q\n", status, err, answer.String())
	// Output: 0 <nil> "Content-Type: text/plain\r\n\r\nThis is /samples.hello.fcgi."
}
