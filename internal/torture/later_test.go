package torture

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// remove removes an object from the root.
func (p *place) remove(t testing.TB, a objectdb.Address) {
	t.Helper()
	db, err := sqlitestore.Open(p.root, objectdb.Options{})
	require.NoError(t, err)
	require.NoError(t, db.Update(t.Context(), func(tx *objectdb.Tx) error { return tx.Delete(a) }))
	require.NoError(t, db.Close())
}

// accountLater compares the steps of all visitors with their records, with what they have left for later, and the runs of
// the schedule with the times when it was due.
func (w *torture) accountLater(t *testing.T, stands map[string]string) {
	recorded := map[string]int{} // by visitor
	for name, value := range w.dump(t, objectdb.Address{"scratchpad", "steps"}) {
		if strings.HasSuffix(name, ".who") {
			recorded[value]++
		}
	}
	later := w.dump(t, objectdb.Address{"scratchpad", "later"})
	waiting := map[string]bool{} // the arguments of what waits, as fmt prints a list
	for _, value := range w.dump(t, objectdb.Address{"user", "webserver", "outbox"}) {
		waiting[value] = true
	}
	for name, value := range stands {
		who, ok := strings.CutSuffix(name, ".n")
		if !ok {
			continue
		}
		n, err := strconv.Atoi(value)
		require.NoError(t, err)
		if recorded[who] != n {
			w.count.fault(lostSteps, "%s made %d steps, and has %d records", who, n, recorded[who])
		}
		w.count.add("records", recorded[who])
		for i := 1; i <= n; i += 20 {
			key := who + " " + strconv.Itoa(i)
			runs := later[key]
			switch {
			case runs == "1":
				w.count.add("later scripts that ran", 1)
			case runs != "":
				w.count.fault(wrongAnswers, "what step %d of %s left for later ran %s times", i, who, runs)
			case waiting["["+key+"]"]:
				w.count.add("later scripts that wait", 1)
			default:
				w.count.fault(lostSteps, "what step %d of %s left for later is lost", i, who)
			}
		}
	}
	for due, runs := range w.dump(t, objectdb.Address{"scratchpad", "ticks"}) {
		if runs != "1" {
			w.count.fault(wrongAnswers, "the schedule ran %s times for %s", runs, due)
		}
		w.count.add("runs of the schedule", 1)
	}
}
