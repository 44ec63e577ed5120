package admin

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"scripter/metrics"
	"scripter/objectdb"
	"scripter/rootname"
)

// statusRoutes lists the pages of the status.
func (s *Server) statusRoutes() {
	s.page("GET /status", readers, (*call).statusPage)
}

// statusData is the status: of the root, and of the programs that answer from it.
type statusData struct {
	Now       time.Time        `json:"now"`
	Processes []metrics.Hour   `json:"processes"`
	Minutes   []metrics.Minute `json:"minutes"` // of all processes, the oldest first
	Plots     []plot           `json:"-"`
	Objects   int64            `json:"objects"`
	Exact     bool             `json:"exact"` // Objects is no estimate
	RootSize  int64            `json:"rootSize"`
	WALSize   int64            `json:"walSize"`
	Change    int64            `json:"lastCommit"`
	Reach     int64            `json:"historyFrom"`
	ReachTime time.Time        `json:"historySince,omitzero"`
	Copy      *time.Time       `json:"lastSavedCopy,omitempty"`
	Failure   string           `json:"lastFailure,omitempty"` // of a saved copy
}

// statusPage shows how the root and its programs are.
func (c *call) statusPage() (*result, error) {
	data := &statusData{Now: c.Now()}
	err := c.DB.View(c.ctx(), func(tx *objectdb.Tx) (err error) {
		if data.Objects, data.Exact, err = tx.CountObjects(); err != nil {
			return err
		}
		data.Change = tx.Generation()
		data.Reach, data.ReachTime, err = tx.Reach()
		return err
	})
	if err != nil {
		return nil, err
	}
	size, err := c.DB.Size(c.ctx())
	if err != nil {
		return nil, err
	}
	data.RootSize, data.WALSize = size.Data, size.WAL
	local, err := rootname.LocalPath(c.DB.Path())
	if err == nil {
		data.Processes, err = metrics.ReadHours(local)
	}
	if err != nil {
		c.Log.Warn("web page: the last hour is not shown", "err", err)
	}
	copies, err := c.DB.Copies()
	if err != nil {
		return nil, err
	}
	for _, made := range copies {
		if data.Copy == nil || made.Time.After(*data.Copy) {
			data.Copy = &made.Time
		}
	}
	data.Failure = c.DB.LastFailure().Why
	data.Minutes = addMinutes(data.Processes, data.Now)
	data.Plots = newPlots(data.Minutes)
	if c.query("part") != "" {
		return &result{part: "statusNow", data: data}, nil
	}
	return &result{template: "status", title: text("nav.status"), data: data}, nil
}

// addMinutes adds the minutes of processes that ended in the same minute of the clock, for the last hour.
func addMinutes(processes []metrics.Hour, now time.Time) []metrics.Minute {
	sums := map[time.Time]metrics.Minute{}
	for _, p := range processes {
		for _, m := range p.Minutes {
			at := m.Time.UTC().Truncate(time.Minute)
			if now.Sub(at) > time.Hour {
				continue
			}
			s := sums[at]
			sums[at] = metrics.Minute{Time: at, Requests: s.Requests + m.Requests, Errors: s.Errors + m.Errors,
				Seconds: s.Seconds + m.Seconds, Running: s.Running + m.Running, Waiting: s.Waiting + m.Waiting,
				Workers: s.Workers + m.Workers, Memory: s.Memory + m.Memory}
		}
	}
	list := []metrics.Minute{}
	for _, m := range sums {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b metrics.Minute) int { return a.Time.Compare(b.Time) })
	return list
}

// plot is a small picture of one value over the last hour.
type plot struct {
	Title  string
	Last   string // the value of the last minute
	Most   string
	Points string // of a line, in a picture of plotWidth by plotHeight
	Area   string // the same, closed at the bottom
	Bad    bool   // a value above zero is bad
}

const (
	plotWidth  = 240
	plotHeight = 48
)

// newPlots draws the values of minutes.
func newPlots(minutes []metrics.Minute) []plot {
	if len(minutes) == 0 {
		return nil
	}
	draw := func(key string, show func(float64) string, value func(metrics.Minute) float64) plot {
		p := plot{Title: text(key), Bad: key == "status.errors"}
		most := 0.0
		for _, m := range minutes {
			most = max(most, value(m))
		}
		var points []string
		end := minutes[len(minutes)-1].Time
		for _, m := range minutes {
			x := plotWidth - end.Sub(m.Time).Minutes()*plotWidth/60
			y := plotHeight - 1.0
			if most > 0 {
				y -= value(m) / most * (plotHeight - 3)
			}
			points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
		}
		p.Points = strings.Join(points, " ")
		first, _, _ := strings.Cut(points[0], ",")
		p.Area = fmt.Sprintf("%s,%d %s %d,%d", first, plotHeight, p.Points, plotWidth, plotHeight)
		p.Last, p.Most = show(value(minutes[len(minutes)-1])), show(most)
		return p
	}
	count := func(n float64) string { return thousands(int64(n)) }
	return []plot{
		draw("status.requests", count, func(m metrics.Minute) float64 { return float64(m.Requests) }),
		draw("status.errors", count, func(m metrics.Minute) float64 { return float64(m.Errors) }),
		draw("status.time", func(ms float64) string { return fmt.Sprintf("%.1f ms", ms) },
			func(m metrics.Minute) float64 { return 1000 * m.Seconds / float64(cmp.Or(m.Requests, 1)) }),
		draw("status.running", count, func(m metrics.Minute) float64 { return float64(m.Running + m.Waiting) }),
		draw("status.workers", count, func(m metrics.Minute) float64 { return float64(m.Workers) }),
		draw("status.memory", func(n float64) string { return byteSize(int64(n)) },
			func(m metrics.Minute) float64 { return float64(m.Memory) }),
	}
}

// SVG returns the picture. Its numbers come from newPlots alone.
func (p plot) SVG() template.HTML {
	class := "plot"
	if p.Bad {
		class += " bad"
	}
	return template.HTML(fmt.Sprintf(`<svg class="%s" viewBox="0 0 %d %d" preserveAspectRatio="none" `+
		`aria-hidden="true" focusable="false"><polygon points="%s"/><polyline points="%s"/></svg>`,
		class, plotWidth, plotHeight, p.Area, p.Points))
}
