package sqlitestore

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"scripter/objectdb"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const counterVariable = "OBJECTDB_TEST_COUNTER"

// TestMain lets this program be the other process of a test.
func TestMain(m *testing.M) {
	if path := os.Getenv(counterVariable); path != "" {
		if err := countIn(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0) // without closing, as a CGI program does
	}
	if path := os.Getenv(crashVariable); path != "" {
		crash(path)
	}
	if path := os.Getenv(openVariable); path != "" {
		openAs(path)
	}
	if path := os.Getenv(saveVariable); path != "" {
		saveForever(path)
	}
	if order := os.Getenv(crowdVariable); order != "" {
		joinCrowd(order)
	}
	if path := os.Getenv(limitVariable); path != "" {
		fillLimited(path)
	}
	if path := os.Getenv(stepVariable); path != "" {
		stepForever(path)
	}
	if path := os.Getenv(rewriteVariable); path != "" {
		rewriteForever(path)
	}
	if path := os.Getenv(holdVariable); path != "" {
		holdTheLock(path)
	}
	if path := os.Getenv(peekVariable); path != "" {
		peekAs(path)
	}
	os.Exit(m.Run())
}

const timesEach = 20

func countIn(path string) error {
	db, err := Open(path, patient)
	if err != nil {
		return err
	}
	for range timesEach {
		err := db.Update(context.Background(), func(tx *objectdb.Tx) error { return increment(tx, objectdb.Address{"n"}) })
		if err != nil {
			return err
		}
	}
	return nil
}

// Specification: 3.1
// Catalogue: C1
func TestManyProcessesRaiseOneCounter(t *testing.T) {
	db := openRoot(t)
	const processes = 8
	var done sync.WaitGroup
	for range processes {
		done.Add(1)
		go func() {
			defer done.Done()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), counterVariable+"="+db.Path())
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, string(out))
		}()
	}
	for range timesEach { // this process raises it too
		update(t, db, func(tx *objectdb.Tx) { require.NoError(t, increment(tx, objectdb.Address{"n"})) })
	}
	done.Wait()
	requireEqual(t, objectdb.Number((processes+1)*timesEach), get(t, db, "n"))
}
