package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// sizes are how many objects the roots of W8 hold beside the supplied ones.
var sizes = []int{1_000, 100_000, 1_000_000}

func sizePeer(n int) string { return fmt.Sprintf("%d objects", n) }

func sizePeers() (peers []string) {
	for _, n := range sizes {
		peers = append(peers, sizePeer(n))
	}
	return peers
}

// page returns W2, which W7 and W8 request as well.
func page() work {
	for _, w := range works {
		if w.name == "W2" {
			return w
		}
	}
	panic("there is no W2")
}

// fill puts n objects into a copy of our root, in tables of a thousand.
func (s *stage) fill(ctx context.Context, n int) error {
	b, err := os.ReadFile(s.path("bench.root"))
	if err != nil {
		return err
	}
	file := s.path(fmt.Sprintf("size-%d.root", n))
	if err := os.WriteFile(file, b, 0o644); err != nil {
		return err
	}
	db, err := sqlitestore.Open(file, objectdb.Options{Relaxed: true})
	if err != nil {
		return err
	}
	defer db.Close()
	for first := 0; first < n; first += 10_000 {
		err := db.Update(ctx, func(tx *objectdb.Tx) error {
			for i := first; i < min(n, first+10_000); i++ {
				a := objectdb.Address{"user", "many", fmt.Sprintf("t%06d", i/1000), fmt.Sprintf("o%06d", i)}
				if err := tx.Put(a, objectdb.String(value(a[3]))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("fill %s: %w", file, err)
		}
	}
	return nil
}

// measureSizes is W8: W2 from roots of three sizes.
func (s *stage) measureSizes(ctx context.Context) error {
	fmt.Println("W8: W2 from roots with more and more objects")
	var peers []string
	for _, n := range sizes {
		if err := s.fill(ctx, n); err != nil {
			return err
		}
		peer, sock := sizePeer(n), s.path(fmt.Sprintf("size-%d.sock", n))
		if err := s.start(peer, filepath.Join(s.o.bin, "scripter-fcgi"),
			"--root", s.path(fmt.Sprintf("size-%d.root", n)), "--listen", "unix:"+sock, "--mode", "666"); err != nil {
			return err
		}
		if err := waitFor(ctx, sock); err != nil {
			return err
		}
		peers = append(peers, peer)
	}
	w := page()
	for _, n := range s.o.clients {
		all := map[string][]figure{}
		for range s.o.rounds {
			for _, peer := range peers {
				f, err := s.load(ctx, peer, w, n)
				if err != nil {
					return err
				}
				all[peer] = append(all[peer], f)
			}
		}
		s.print(n, peers[len(peers)-1], peers, all)
	}
	for _, peer := range peers {
		kb, processes := s.pss(peer)
		fmt.Printf("  %-16s %6.1f MB (PSS) in %d processes\n", peer, float64(kb)/1024, processes)
	}
	fmt.Println()
	return nil
}

// measureWriter is W7: W2 while a client writes another object 100 times a
// second, beside W2 alone.
func (s *stage) measureWriter(ctx context.Context) error {
	fmt.Println("W7: W2 while another object is written 100 times a second")
	w := page()
	const quiet, written = "W2 alone", "W2 and a writer"
	for _, n := range s.o.clients {
		all := map[string][]figure{}
		for range s.o.rounds {
			f, err := s.load(ctx, ours, w, n)
			if err != nil {
				return err
			}
			all[quiet] = append(all[quiet], f)
			stop := s.keepWriting()
			f, err = s.load(ctx, ours, w, n)
			writes := stop()
			if err != nil {
				return err
			}
			f.writes = float64(writes) / max(1, s.o.duration.Seconds())
			all[written] = append(all[written], f)
		}
		s.print(n, written, []string{written, quiet}, all)
		fmt.Printf("  %3d clients  %-16s %.0f writes a second\n", n, "",
			median(all[written], func(f figure) float64 { return f.writes }))
	}
	fmt.Println()
	return nil
}

// keepWriting writes 100 times a second until stop is called, which returns the number
// of writes.
func (s *stage) keepWriting() (stop func() int) {
	end, done, n := make(chan struct{}), make(chan struct{}), 0
	go func() {
		defer close(done)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				if _, err := fetch(fmt.Sprintf("http://127.0.0.1:%d/W7.fcgi", s.port), ""); err == nil {
					n++
				}
			}
		}
	}()
	return func() int { close(end); <-done; return n }
}

// measureFirstByte prints how soon the first byte of W5 comes, and what memory
// the work takes.
func (s *stage) measureFirstByte(ctx context.Context, w work) error {
	for _, peer := range append([]string{ours}, w.peers...) {
		before, _ := s.pss(peer)
		best := time.Hour
		for range 20 {
			r, err := http.NewRequestWithContext(ctx, "GET", s.url(peer, w), nil)
			if err != nil {
				return err
			}
			begin := time.Now()
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				return err
			}
			var b [1]byte
			_, err = resp.Body.Read(b[:])
			best = min(best, time.Since(begin))
			resp.Body.Close()
			if err != nil {
				return err
			}
		}
		after, _ := s.pss(peer)
		fmt.Printf("  %-14s first byte after %.2f ms (best of 20), memory %+.1f MB\n",
			peer, best.Seconds()*1000, float64(after-before)/1024)
	}
	return nil
}

// checkCount compares our counter with the number of answered requests. Requests that
// were under way when a load ended may have raised the counter as well.
func (s *stage) checkCount(answered, loads, clients int) error {
	text, err := fetch(s.url(ours, work{name: "W3"}), "")
	if err != nil {
		return err
	}
	count := 0
	if _, err := fmt.Sscanf(strings.TrimSpace(text), "count %d", &count); err != nil {
		return fmt.Errorf("W3 answers %q: %w", text, err)
	}
	counted := count - s.counted - 1
	s.counted = count
	if counted < answered || counted > answered+loads*clients {
		return fmt.Errorf("W3: %d requests were answered, and the counter was raised %d times", answered, counted)
	}
	fmt.Printf("  %3d clients  the counter is exact: %d requests answered, raised %d times "+
		"(%d may have been under way)\n",
		clients, answered, counted, loads*clients)
	return nil
}
