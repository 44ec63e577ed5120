package admin

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/gateway"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
	"scripter/requestlog"
)

// fillRequests records as many requests as can be kept.
func fillRequests(t testing.TB, db *objectdb.DB) {
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error {
		for i := range 1000 {
			r := requestlog.New(map[string]string{"REQUEST_METHOD": "POST", "REQUEST_URI": fmt.Sprintf("/x.fcgi?n=%d", i),
				"REMOTE_ADDR": "192.0.2.7", "HTTP_USER_AGENT": strings.Repeat("agent ", 20)}, strings.Repeat("b", 20_000), nil)
			r.Time = time.Now()
			if err := r.Add(tx, 1000); err != nil {
				return err
			}
			rec := &requestlog.Recorder{Begun: r.Time}
			rec.Write([]byte(strings.Repeat("answer ", 4000)))
			r.SetOutcome(rec, 200+i%4*100, "", "", r.Time.Add(3*time.Millisecond))
			if err := r.AddOutcome(tx); err != nil {
				return err
			}
		}
		return nil
	}))
}

// TestManyRequests checks that the greatest number of kept requests is shown in pages, and looked through
// in steps.
func TestManyRequests(t *testing.T) {
	s := newSite(t)
	fillRequests(t, s.db)
	ada := s.person("ada", "owner")
	all := func(query string) (numbers []float64, pages int) {
		next := ""
		for {
			data := ada.json("requests?" + query + "&before=" + next)
			list := data["requests"].([]any)
			assert.LessOrEqual(t, len(list), requestRows)
			for _, r := range list {
				numbers = append(numbers, r.(map[string]any)["number"].(float64))
			}
			pages++
			if data["next"] == nil {
				return numbers, pages
			}
			next = data["next"].(string)
		}
	}
	numbers, pages := all("")
	assert.Len(t, numbers, 1000)
	assert.Equal(t, 1000.0, numbers[0])
	assert.Equal(t, 1.0, numbers[999])
	assert.Equal(t, 20, pages)
	numbers, pages = all("text=n%3d77")
	assert.Len(t, numbers, 11)
	assert.Equal(t, 4, pages)
	numbers, _ = all("status=5")
	assert.Len(t, numbers, 250)
	assert.Contains(t, ada.get("requests?text=nothing+like+it").text(), text("requests.looked", requestLook))
}

// BenchmarkRequests measures the pages of requests while as many as possible are kept.
func BenchmarkRequests(b *testing.B) {
	db, err := sqlitestore.Create(filepath.Join(b.TempDir(), "test.root"), objectdb.Options{Relaxed: true})
	require.NoError(b, err)
	defer db.Close()
	fillRequests(b, db)
	c := &call{Server: New(Config{DB: db, Gateway: gateway.New(gateway.Options{DB: db})}), db: db}
	require.NoError(b, db.View(context.Background(), func(tx *objectdb.Tx) (err error) {
		c.site, err = c.Gateway.Site().Snapshot(tx)
		return err
	}))
	for name, path := range map[string]string{"list": "/requests", "filter": "/requests?text=nothing+like+it", "incident": "/requests?incident=22222222"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c.r = httptest.NewRequest(http.MethodGet, path, nil)
				_, _ = c.requestsPage()
			}
		})
	}
}
