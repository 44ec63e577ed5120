package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"scripter/internal/fcgitest"
)

// params returns the variables of a request for a file of the site.
func (s *postgresStage) params(name, query string) map[string]string {
	return map[string]string{
		"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/" + name, "REQUEST_URI": "/" + name + "?" + query, "QUERY_STRING": query,
		"SCRIPT_FILENAME": s.path("site", name), "DOCUMENT_ROOT": s.path("site"), "SERVER_PROTOCOL": "HTTP/1.1",
		"GATEWAY_INTERFACE": "CGI/1.1", "SERVER_SOFTWARE": "nginx/1.22.1", "REMOTE_ADDR": "127.0.0.1",
		"SERVER_NAME": "localhost", "SERVER_PORT": "80", "HTTP_HOST": "localhost", "REDIRECT_STATUS": "200",
	}
}

// caller sends requests to a host, over one connection.
type caller struct {
	h      *host
	socket string // to which client is connected
	client *fcgitest.Client
	out    bytes.Buffer
}

// errStatus is an answer that is not 200.
var errStatus = errors.New("another status")

// ask sends a request and returns the body. It connects again after an error.
func (c *caller) ask(ctx context.Context, params map[string]string) (string, error) {
	if socket := c.h.socket.Load(); c.client == nil || c.socket != *socket {
		c.close()
		c.socket = *socket
		nc, err := new(net.Dialer).DialContext(ctx, "unix", c.socket)
		if err != nil {
			return "", err
		}
		c.client = fcgitest.NewClient(nc, true)
	}
	c.out.Reset()
	if _, err := c.client.Do(ctx, params, nil, &c.out, io.Discard); err != nil {
		c.close()
		return "", err
	}
	head, body, _ := strings.Cut(c.out.String(), "\r\n\r\n")
	if !strings.HasPrefix(head, "Status: 200") {
		line, _, _ := strings.Cut(head, "\r\n")
		return body, fmt.Errorf("%w: %s: %.300q", errStatus, line, body)
	}
	return body, nil
}

func (c *caller) close() {
	if c.client != nil {
		c.client.Close()
		c.client = nil
	}
}

// hammer lets clients ask hosts for some time, and returns the answers a second.
func (s *postgresStage) hammer(
	ctx context.Context, hosts []*host, params map[string]string, check func(body string) error,
) (float64, error) {
	clients := s.o.clients[0]
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begun := time.Now()
	end := begun.Add(s.o.duration)
	var answers atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for _, h := range hosts {
		for range clients {
			wg.Go(func() {
				c := &caller{h: h}
				defer c.close()
				for time.Now().Before(end) && ctx.Err() == nil {
					body, err := c.ask(ctx, params)
					if err == nil {
						err = check(body)
					}
					if err != nil {
						failed.CompareAndSwap(nil, &err)
						cancel()
						return
					}
					answers.Add(1)
				}
			})
		}
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(answers.Load()) / time.Since(begun).Seconds(), nil
}

// compare measures a work with the root in a file, in PostgreSQL with one host, and with all, interleaved.
func (s *postgresStage) compare(
	ctx context.Context, params map[string]string, check func(body string) error,
) (file, one, all []float64, err error) {
	for _, h := range append([]*host{s.file}, s.hosts...) { // caches
		if _, err := (&caller{h: h}).ask(ctx, params); err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", h.name, err)
		}
	}
	for range s.o.rounds {
		for _, m := range []struct {
			hosts []*host
			rates *[]float64
		}{{[]*host{s.file}, &file}, {s.hosts[:1], &one}, {s.hosts, &all}} {
			rate, err := s.hammer(ctx, m.hosts, params, check)
			if err != nil {
				return nil, nil, nil, fmt.Errorf("%s: %w", m.hosts[0].name, err)
			}
			*m.rates = append(*m.rates, rate)
		}
	}
	return file, one, all, nil
}

// printRates prints a line for a set-up; reference may be nil.
func printRates(name string, rates, reference []float64, than string) {
	fmt.Printf("  %-34s %8.0f/s", name, middle(rates))
	if reference != nil {
		var ratios []float64
		for i := range rates {
			ratios = append(ratios, rates[i]/reference[i])
		}
		fmt.Printf("   %.2f x %s (%.2f to %.2f)", middle(ratios), than, slices.Min(ratios), slices.Max(ratios))
	}
	fmt.Println()
}

func middle(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

func (s *postgresStage) compareReads(name, query string) func(context.Context) error {
	return func(ctx context.Context) error {
		file := name + ".fcgi"
		title := ""
		for _, w := range works {
			if w.name == name {
				title = w.title
				if w.page != "" {
					file = name + ".mcro"
				}
			}
		}
		params := s.params(file, query)
		want, err := (&caller{h: s.file}).ask(ctx, params)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s; %d clients for each host\n", name, title, s.o.clients[0])
		inFile, one, all, err := s.compare(ctx, params, func(body string) error {
			if body != want {
				return fmt.Errorf("the body is %.100q, not %.100q", body, want)
			}
			return nil
		})
		if err != nil {
			return err
		}
		printRates("one host, SQLite", inFile, nil, "")
		printRates("one host, PostgreSQL", one, inFile, "SQLite")
		printRates("three hosts, PostgreSQL", all, one, "one host")
		return nil
	}
}

func (s *postgresStage) compareWrites(ctx context.Context) error {
	fmt.Printf("W3: a counter raised atomically and durably; %d clients for each host\n", s.o.clients[0])
	params := s.params("W3.fcgi", "")
	before, err := s.counter(ctx, s.hosts[0])
	if err != nil {
		return err
	}
	synced, err := s.server.Flushes()
	if err != nil {
		return err
	}
	var answered atomic.Int64
	file, one, all, err := s.compare(ctx, params, func(body string) error {
		answered.Add(1)
		_, err := count(body)
		return err
	})
	if err != nil {
		return err
	}
	time.Sleep(time.Second) // PostgreSQL counts up to a second late
	syncs, err := s.server.Flushes()
	if err != nil {
		return err
	}
	after, err := s.counter(ctx, s.hosts[1])
	if err != nil {
		return err
	}
	inFile, err := s.counter(ctx, s.file)
	if err != nil {
		return err
	}
	// Both roots begin at 0. What compare asks each host first, and the reads of the counter, raise it as well.
	if got, want := int64(after+inFile), answered.Load()+int64(hostCount+1)+3; before != 1 || got != want {
		return fmt.Errorf("the counters are %d and %d, %d in all; %d steps were answered", after, inFile, got, want)
	}
	printRates("one host, SQLite", file, nil, "")
	printRates("one host, PostgreSQL", one, file, "SQLite")
	printRates("three hosts, PostgreSQL", all, file, "SQLite")
	fmt.Printf("  %d steps answered, none lost; PostgreSQL synced its WAL %d times for %d steps\n", answered.Load(),
		syncs-synced, after)
	return nil
}

// counter raises the counter and returns it.
func (s *postgresStage) counter(ctx context.Context, h *host) (int, error) {
	body, err := (&caller{h: h}).ask(ctx, s.params("W3.fcgi", ""))
	if err != nil {
		return 0, err
	}
	return count(body)
}

func count(body string) (n int, err error) {
	_, err = fmt.Sscanf(body, "count %d", &n)
	return n, err
}

// staleTime is how long another host may answer with an old value.
const staleTime = 50 * time.Millisecond

// measureEdits makes edits on one host, and finds how long the others answer with the value before.
func (s *postgresStage) measureEdits(ctx context.Context) error {
	fmt.Printf("edits: one host writes, the others are asked without a cookie until they have seen it\n")
	writer := &caller{h: s.hosts[0]}
	defer writer.close()
	var ages []time.Duration
	var mu sync.Mutex
	for v := 1; v <= s.o.edits; v++ {
		value := strconv.Itoa(v)
		if _, err := writer.ask(ctx, s.params("edit.fcgi", "v="+value)); err != nil {
			return err
		}
		written := time.Now()
		var wg sync.WaitGroup
		var failed error
		for _, h := range s.hosts[1:] {
			wg.Go(func() {
				c := &caller{h: h}
				defer c.close()
				age := time.Duration(0)
				for {
					asked := time.Now()
					body, err := c.ask(ctx, s.params("seen.fcgi", ""))
					if err == nil && strings.TrimSpace(body) != value && asked.Sub(written) < 10*time.Second {
						age = asked.Sub(written)
						continue
					}
					mu.Lock()
					ages = append(ages, age)
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
			})
		}
		wg.Wait()
		if failed != nil {
			return failed
		}
		time.Sleep(rand.N(20 * time.Millisecond)) // at any moment of the others' polls
	}
	slices.Sort(ages)
	late := 0
	for _, age := range ages {
		if age > staleTime {
			late++
		}
	}
	fmt.Printf("  %d edits, 2 hosts: the last old answer came to a request that began %.1f ms after the edit (p50), "+
		"%.1f ms (p99), %.1f ms (p100); %d after %v\n", s.o.edits, ms(ages[len(ages)/2]), ms(ages[len(ages)*99/100]),
		ms(ages[len(ages)-1]), late, staleTime)
	return nil
}

// difference returns the rest of a from where it differs from b.
func difference(a, b string) string {
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return a[i:]
		}
	}
	return ""
}

// killAtRandom kills hosts and the server under load, and checks that no step of the counter is lost and that no answer
// is wrong.
func (s *postgresStage) killAtRandom(ctx context.Context) error {
	fmt.Printf("kill: hosts and the server are killed at random for %v\n", s.o.kill)
	page, err := (&caller{h: s.hosts[0]}).ask(ctx, s.params("W2.mcro", ""))
	if err != nil {
		return err
	}
	first, err := s.counter(ctx, s.hosts[0])
	if err != nil {
		return err
	}
	var (
		mu            sync.Mutex
		seen          = map[int]bool{}
		highest       = first // of the answers so far
		unknown, read int
		wrong         []string
	)
	report := func(format string, args ...any) {
		if len(wrong) < 10 {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	over, stop := context.WithTimeout(ctx, s.o.kill)
	defer stop()
	var wg sync.WaitGroup
	for _, h := range s.hosts {
		for i := range s.o.clients[0] {
			wg.Go(func() {
				c := &caller{h: h}
				defer c.close()
				for over.Err() == nil {
					mu.Lock()
					before := highest
					mu.Unlock()
					name := "W3.fcgi"
					if i%4 == 0 {
						name = "W2.mcro"
					}
					body, err := c.ask(ctx, s.params(name, ""))
					n, bad := count(body)
					mu.Lock()
					switch {
					case name == "W2.mcro" && err == nil:
						if read++; body != page {
							report("%s answers another page, which differs at %.200q", h.name, difference(body, page))
						}
					case name == "W2.mcro":
					case err != nil:
						unknown++
					case bad != nil:
						report("%s answers %.200q", h.name, body)
					case seen[n]:
						report("%s answers %d, as another answer did", h.name, n)
					case n <= before:
						report("%s answers %d, after %d had been answered", h.name, n, before)
					default:
						seen[n] = true
						highest = max(highest, n)
					}
					mu.Unlock()
					if err != nil {
						time.Sleep(5 * time.Millisecond)
					}
				}
			})
		}
	}
	kills := map[string]int{}
	for over.Err() == nil {
		select {
		case <-over.Done():
		case <-time.After(time.Second + rand.N(3*time.Second)):
		}
		if over.Err() != nil {
			break
		}
		if i := rand.N(len(s.hosts) + 1); i < len(s.hosts) {
			s.hosts[i].kill()
			kills["hosts"]++
			err = s.hosts[i].start(ctx)
		} else {
			s.server.Crash()
			kills["servers"]++
			err = s.server.Start()
		}
		if err != nil {
			stop()
			break
		}
	}
	wg.Wait()
	if err != nil {
		return err
	}
	last, err := s.counter(ctx, s.hosts[0])
	if err != nil {
		return err
	}
	last-- // this request
	steps := last - first
	if lost := len(seen) - steps; lost > 0 || steps > len(seen)+unknown || highest > last {
		report("%d steps were answered, up to %d; %d are unknown; the counter has made %d, up to %d", len(seen), highest, unknown,
			steps, last)
	}
	fmt.Printf("  %d hosts and %d servers killed; %d steps answered, %d unknown, %d of these made; %d pages read\n",
		kills["hosts"], kills["servers"], len(seen), unknown, steps-len(seen), read)
	if len(wrong) > 0 {
		return fmt.Errorf("wrong:\n  %s", strings.Join(wrong, "\n  "))
	}
	fmt.Println("  0 steps lost, 0 wrong answers")
	return nil
}
