package fcgi_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"scripter/fcgi"
)

// Len of Stdin returns how many bytes can be read without waiting.
func TestStdinLen(t *testing.T) {
	left := make(chan *fcgi.Request, 1)
	looked := make(chan bool)
	s := serve(t, fcgi.Limits{}, func(ctx context.Context, r *fcgi.Request) {
		arrived := func() int { return r.Stdin.(interface{ Len() int }).Len() }
		fmt.Fprint(r.Stdout, arrived())
		looked <- true
		io.ReadFull(r.Stdin, make([]byte, min(2, arrived())))
		fmt.Fprint(r.Stdout, " ", arrived())
		io.Copy(io.Discard, r.Stdin)
		fmt.Fprint(r.Stdout, " ", arrived())
		left <- r
	})
	for name, c := range map[string]struct {
		first, then []byte
		want        string
	}{
		"whole": {slices.Concat(rec(stdin, 1, "abcd"), rec(stdin, 1, "")), nil, "4 2 0"},
		"with padding": {
			slices.Concat(padded(stdin, 1, "abc", 5), padded(stdin, 1, "d", 7), rec(stdin, 1, "")), nil, "4 2 0",
		},
		"without its end":  {rec(stdin, 1, "abcd"), rec(stdin, 1, ""), "4 2 0"},
		"part of a record": {rec(stdin, 1, "abcd")[:11], slices.Concat([]byte("d"), rec(stdin, 1, "")), "3 "},
		"a header":         {rec(stdin, 1, "abcd")[:8], slices.Concat([]byte("abcd"), rec(stdin, 1, "")), "0 "},
		"part of a header": {
			rec(stdin, 1, "abcd")[:7], slices.Concat(rec(stdin, 1, "abcd")[7:], rec(stdin, 1, "")), "0 ",
		},
		"behind another record": {
			slices.Concat(rec(stdin, 2, "unknown id"), rec(stdin, 1, "abcd")), rec(stdin, 1, ""), "0 ",
		},
		"none": {rec(stdin, 1, ""), nil, "0 0 0"},
	} {
		w := s.dial(t)
		w.send(slices.Concat(head(1, true, serverParams()), c.first))
		<-looked
		w.send(c.then)
		a, err := w.answer(1)
		assert.NoError(t, err, name)
		assert.Contains(t, a.stdout, c.want, name)
		assert.Zero(t, (<-left).Stdin.(interface{ Len() int }).Len(), name)
	}
}
