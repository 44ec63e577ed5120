package metrics

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The number of counters is limited, whatever the number of names.
func TestCountersAreBounded(t *testing.T) {
	var m Metrics
	for i := range 10 * maxCounters {
		m.CountRequest(Request{Action: "ACTION" + strconv.Itoa(i), Status: 200})
	}
	assert.Len(t, m.actions.all(), maxCounters+1)
	assert.Equal(t, uint64(9*maxCounters), m.actions.all()[otherNames].statuses[200].Load())
}

// Counting a request allocates no memory.
func TestCountingIsCheap(t *testing.T) {
	var m Metrics
	m.CountRequest(Request{Action: "SCRIPTER", Status: 200})
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		m.CountRequest(Request{Action: "SCRIPTER", Status: 200, Duration: 3 * time.Millisecond, Bytes: 1000})
	}))
}

func TestDurationClass(t *testing.T) {
	for d, want := range map[time.Duration]int{
		0: 0, time.Millisecond: 0, time.Millisecond + 1: 1, 5 * time.Millisecond: 2, time.Second: 9,
		30 * time.Second: len(DurationBounds) - 1, time.Hour: len(DurationBounds),
	} {
		assert.Equal(t, want, durationClass(d), d)
	}
}

// A copy does not change with its original.
func TestCountsCopy(t *testing.T) {
	one := Counts{
		Actions: map[string]ActionCounts{"A": {Statuses: map[int]uint64{200: 1}, Classes: []uint64{1}, Seconds: 0.5}},
		Limits:  map[string]uint64{"maxTime": 1}, Caches: map[string]CacheCount{"pages": {1, 2}},
		Incidents: 1, Again: 2, Waited: 3, Slow: 4, Saves: 5, Unsaved: 6, Bytes: 7,
	}
	two := one.Copy()
	two.Add(one)
	assert.Equal(t, Counts{
		Actions: map[string]ActionCounts{"A": {Statuses: map[int]uint64{200: 2}, Classes: []uint64{2}, Seconds: 1}},
		Limits:  map[string]uint64{"maxTime": 2}, Caches: map[string]CacheCount{"pages": {2, 4}},
		Incidents: 2, Again: 4, Waited: 6, Slow: 8, Saves: 10, Unsaved: 12, Bytes: 14,
	}, two)
	assert.Equal(t, uint64(1), one.Actions["A"].Statuses[200])
}

func BenchmarkCount(b *testing.B) {
	var m Metrics
	for b.Loop() {
		m.CountRequest(Request{Action: "SCRIPTER", Status: 200, Duration: 3 * time.Millisecond, Bytes: 1000})
	}
}
