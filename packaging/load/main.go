// Load sends requests to a web server, each half of them GET and POST, until it gets SIGTERM, and prints how many
// were answered and how many were not. Each client keeps its connection.
//
//	load -url http://localhost/hello.fcgi -clients 8 -want Hello
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

type result struct {
	answered, lost int
	longest        time.Duration
	first          string // what the first lost one got
}

func main() {
	url := flag.String("url", "", "what is asked for")
	clients := flag.Int("clients", 8, "how many ask at the same time")
	want := flag.String("want", "", "text that each answer contains")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	var mu sync.Mutex
	var all result
	var wait sync.WaitGroup
	for range *clients {
		wait.Go(func() {
			r := run(ctx, *url, *want)
			mu.Lock()
			defer mu.Unlock()
			all.answered += r.answered
			all.lost += r.lost
			all.longest = max(all.longest, r.longest)
			if all.first == "" {
				all.first = r.first
			}
		})
	}
	wait.Wait()
	fmt.Printf("%d answered, %d lost, longest %d ms %s\n", all.answered, all.lost, all.longest.Milliseconds(), all.first)
	if all.lost > 0 || all.answered == 0 {
		os.Exit(1)
	}
}

func run(ctx context.Context, url, want string) (r result) {
	// No second attempt: http.Transport repeats a GET whose connection was closed, but not a request with a body.
	client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	for n := 0; ctx.Err() == nil; n++ {
		method, body := http.MethodGet, io.Reader(nil)
		if n%2 == 1 {
			method, body = http.MethodPost, strings.NewReader("x=1")
		}
		began := time.Now()
		if problem := ask(client, method, url, want, body); problem != "" {
			r.lost++
			if r.first == "" {
				r.first = method + ": " + problem
			}
		} else {
			r.answered++
		}
		r.longest = max(r.longest, time.Since(began))
	}
	return r
}

// ask returns what is wrong with the answer, or "".
func ask(client *http.Client, method, url, want string, body io.Reader) string {
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		return err.Error()
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := client.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err.Error()
	case resp.StatusCode != http.StatusOK || !strings.Contains(string(text), want):
		return fmt.Sprintf("%s: %.100q", resp.Status, text)
	}
	return ""
}
