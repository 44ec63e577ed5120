package torture

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"scripter/internal/fcgitest"
)

// BenchmarkNeighbours measures what others notice of hostile scripts: how long a
// request takes on four kept connections, with a pause of 2 ms behind each, while
// nothing else happens, and while a hostile script a second begins, with the
// limits as supplied. Phases of five seconds take turns. One request in a hundred
// takes longer than a p99; the ratio is that of both.
//
//	go test -run '^$' -bench Neighbours -benchtime 4x ./internal/torture
func BenchmarkNeighbours(b *testing.B) {
	scripts := maps.Clone(wireScripts)
	bombs := readBombs(b)
	for i, source := range bombs {
		scripts[fmt.Sprint("bomb", i)] = source
	}
	p := newPlace(b, scripts)
	r := p.start(b, "unix")
	random := rand.New(rand.NewSource(1))
	var alone, beside []time.Duration
	for b.Loop() {
		alone = append(alone, r.neighbours(b, 5*time.Second)...)
		ctx, cancel := context.WithCancel(b.Context())
		var attacks sync.WaitGroup
		attacks.Go(func() {
			for {
				name := fmt.Sprint("bomb", random.Intn(len(bombs)))
				attacks.Go(func() { r.ask(context.WithoutCancel(ctx), name, "", "") })
				if !sleep(ctx, time.Second) {
					return
				}
			}
		})
		beside = append(beside, r.neighbours(b, 5*time.Second)...)
		cancel()
		attacks.Wait()
	}
	for name, of := range map[string]func([]time.Duration) time.Duration{
		"p50": func(ds []time.Duration) time.Duration { return ds[len(ds)/2] },
		"p99": func(ds []time.Duration) time.Duration { return ds[len(ds)*99/100] },
	} {
		slices.Sort(alone)
		slices.Sort(beside)
		b.ReportMetric(of(alone).Seconds()*1e3, name+"-alone-ms")
		b.ReportMetric(of(beside).Seconds()*1e3, name+"-beside-ms")
		b.ReportMetric(of(beside).Seconds()/of(alone).Seconds(), name+"-ratio")
	}
	b.ReportMetric(0, "ns/op")
}

// neighbours asks for ordinary things for so long and returns how long each took.
func (r *responder) neighbours(b *testing.B, lasting time.Duration) []time.Duration {
	const clients = 4
	var took [clients][]time.Duration
	var wg sync.WaitGroup
	until := time.Now().Add(lasting)
	for i := range clients {
		wg.Go(func() {
			c, err := fcgitest.Dial(b.Context(), r.spec())
			if err != nil {
				b.Error(err)
				return
			}
			defer c.Close()
			for n := 0; time.Now().Before(until); n++ {
				var out bytes.Buffer
				query := fmt.Sprint(i, "-", n)
				begun := time.Now()
				_, err := c.Do(b.Context(), variables("hello", query, 0), nil, &out, io.Discard)
				took[i] = append(took[i], time.Since(begun))
				if err != nil || !strings.HasSuffix(out.String(), "hello "+query) {
					b.Errorf("%v, %.300q", err, out.String())
					return
				}
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	wg.Wait()
	return slices.Concat(took[:]...)
}
