package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Minute is what a process and its workers have done in one minute.
type Minute struct {
	Time     time.Time `json:"time"` // its end
	Requests uint64    `json:"requests"`
	Errors   uint64    `json:"errors"`  // those with a status of 500 and above, or without a response
	Seconds  float64   `json:"seconds"` // the sum of the durations
	Running  int       `json:"running"` // requests under way at its end
	Waiting  int       `json:"waiting"` // requests that waited at its end
	Workers  int       `json:"workers"`
	Memory   int64     `json:"memory"` // resident bytes of the process and its workers, at its end
}

// Hour is the last hour of a process, a minute each, the oldest first.
type Hour struct {
	PID     int       `json:"pid"`
	Started time.Time `json:"started"`
	Minutes []Minute  `json:"minutes"`
}

// Reading is the state of a process at one moment.
type Reading struct {
	Counts           Counts // since the process began
	Running, Waiting int
	Workers          []int // their process ids, if the process has workers
}

// hourMinutes is how many minutes are kept.
const hourMinutes = 60

// HourRecorder writes what a process does each minute into a file beside a root, for the web page: other
// processes answer it.
type HourRecorder struct {
	Root func() string // path of the root
	Read func() Reading

	hour Hour
	last Reading
	file string // the file that was written last
}

// hourPrefix is what the names of the files have after that of their root; the process id follows.
const hourPrefix = "-status-"

// Run records until ctx ends, and then removes the file. Errors are passed to failed.
func (h *HourRecorder) Run(ctx context.Context, failed func(error)) {
	h.hour = Hour{PID: os.Getpid(), Started: time.Now()}
	h.last = h.Read()
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	h.write(failed)
	for {
		select {
		case now := <-tick.C:
			h.add(now)
			h.write(failed)
		case <-ctx.Done():
			os.Remove(h.file)
			return
		}
	}
}

// add adds the minute that has ended.
func (h *HourRecorder) add(now time.Time) {
	r := h.Read()
	m := Minute{Time: now, Running: r.Running, Waiting: r.Waiting, Workers: max(len(r.Workers), 1),
		Requests: r.Counts.Requests() - h.last.Counts.Requests(), Memory: residentBytes(os.Getpid())}
	m.Errors = r.Counts.errors() - h.last.Counts.errors()
	m.Seconds = r.Counts.seconds() - h.last.Counts.seconds()
	for _, pid := range r.Workers {
		if pid != os.Getpid() {
			m.Memory += residentBytes(pid)
		}
	}
	h.hour.Minutes = append(h.hour.Minutes, m)
	if n := len(h.hour.Minutes); n > hourMinutes {
		h.hour.Minutes = slices.Delete(h.hour.Minutes, 0, n-hourMinutes)
	}
	h.last = r
}

// write writes the file anew.
func (h *HourRecorder) write(failed func(error)) {
	file := h.Root() + hourPrefix + strconv.Itoa(os.Getpid())
	if h.file != "" && h.file != file {
		os.Remove(h.file) // the program answers from another root now
	}
	h.file = file
	text, err := json.Marshal(h.hour)
	if err == nil {
		part := file + ".part"
		if err = os.WriteFile(part, text, 0o600); err == nil {
			err = os.Rename(part, file)
		}
	}
	if err != nil {
		failed(fmt.Errorf("write the minutes of the status: %w", err))
	}
}

// ReadHours returns the last hours of the processes that answer from a root. It removes the files of
// processes that have ended.
func ReadHours(root string) ([]Hour, error) {
	entries, err := os.ReadDir(filepath.Dir(root))
	if err != nil {
		return nil, err
	}
	var list []Hour
	for _, e := range entries {
		pid, ok := strings.CutPrefix(e.Name(), filepath.Base(root)+hourPrefix)
		n, err := strconv.Atoi(pid)
		if !ok || err != nil || n <= 0 {
			continue
		}
		file := filepath.Join(filepath.Dir(root), e.Name())
		if errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
			os.Remove(file)
			continue
		}
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var h Hour
		if err == nil {
			err = json.Unmarshal(text, &h)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		list = append(list, h)
	}
	return list, nil
}

// errors counts the requests with a status of 500 and above, or without a response.
func (c *Counts) errors() (n uint64) {
	for _, a := range c.Actions {
		for status, of := range a.Statuses {
			if status >= 500 || status == 0 {
				n += of
			}
		}
	}
	return n
}

// seconds returns the sum of the durations of all requests.
func (c *Counts) seconds() (sum float64) {
	for _, a := range c.Actions {
		sum += a.Seconds
	}
	return sum
}

// residentBytes returns the resident memory of a process, or 0 where the system does not tell.
func residentBytes(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
