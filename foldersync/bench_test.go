package foldersync

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

// manyFiles makes a pair with 10,000 scripts, and syncs it.
func manyFiles(b *testing.B) *pair {
	p := newPair(b)
	for i := range 100 {
		require.NoError(b, os.Mkdir(p.path(fmt.Sprintf("t%d", i)), 0o700))
		for j := range 100 {
			p.write(fmt.Sprintf("t%d/s%d.lua", i, j), fmt.Sprintf("local a = %d\nreturn a * %d\n", i, j))
		}
	}
	settle()
	p.sync()
	settle()
	p.sync()
	return p
}

// BenchmarkAtRest is a sync of 10,000 files in which nothing was changed, with opening both sides.
func BenchmarkAtRest(b *testing.B) {
	p := manyFiles(b)
	p.db.Close()
	for b.Loop() {
		p.reopen()
		require.Empty(b, p.sync())
		p.db.Close()
	}
}

// BenchmarkLive is the time from the save of one of 10,000 files until the root has it, under a
// Watch.
func BenchmarkLive(b *testing.B) {
	p := manyFiles(b)
	f, err := Open(p.options())
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan bool)
	go func() {
		defer close(ended)
		f.Watch(ctx, Round{}, func(*Result, error) {})
	}()
	time.Sleep(time.Second)
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		time.Sleep(500 * time.Millisecond)
		text := fmt.Sprintf("return %d\n", i)
		b.StartTimer()
		p.write("t50/s50.lua", text)
		for p.get("t50/s50") != objectdb.Script(text) {
			time.Sleep(time.Millisecond)
		}
	}
	cancel()
	<-ended
	f.Close()
}

// BenchmarkLiveRoot is the time from the change of an object until its file has it.
func BenchmarkLiveRoot(b *testing.B) {
	p := manyFiles(b)
	f, err := Open(p.options())
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan bool)
	go func() {
		defer close(ended)
		f.Watch(ctx, Round{}, func(*Result, error) {})
	}()
	time.Sleep(time.Second)
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		time.Sleep(500 * time.Millisecond)
		text := fmt.Sprintf("return %d\n", i)
		b.StartTimer()
		p.put("t50/s50", objectdb.Script(text))
		for p.read("t50/s50.lua") != text {
			time.Sleep(time.Millisecond)
		}
	}
	cancel()
	<-ended
	f.Close()
}
