package requestlog

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/httpheader"
	"scripter/objectdb"
	"scripter/objectdb/sqlitestore"
)

// update runs fn in a transaction of a new root.
func update(t *testing.T, fn func(tx *objectdb.Tx)) {
	t.Helper()
	db, err := sqlitestore.Create(filepath.Join(t.TempDir(), "site.root"), objectdb.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	require.NoError(t, db.Update(context.Background(), func(tx *objectdb.Tx) error { fn(tx); return nil }))
}

// TestStored checks that a stored request, with its outcome, is read unchanged.
func TestStored(t *testing.T) {
	m := new(Mask)
	variables := m.Variables(map[string]string{
		"REQUEST_METHOD": "POST", "SCRIPT_NAME": "/x.fcgi", "QUERY_STRING": "token=hush", "HTTP_COOKIE": "a=hush",
	})
	r := New(variables, m.Body("", "a=1&password=hush"), m)
	r.Time, r.HandlerNames, r.ConnectionID, r.BodySize = time.Unix(1e9, 0).UTC(), []string{"x.acgi"}, 7, 17
	assert.Equal(t, "POST /x.fcgi?token=(masked)", r.Line())
	assert.Equal(t, []string{"HTTP_COOKIE", "field password", "field token"}, r.Masked)

	rec := &Recorder{Mask: m, Begun: r.Time}
	resp := &httpheader.Response{Proto: "HTTP/1.0", Status: 201, Reason: "Created"}
	resp.Add("Set-Cookie", "sid=1234; Path=/")
	rec.Head(resp)
	rec.Write([]byte("hush, "))
	rec.Write([]byte("made"))
	update(t, func(tx *objectdb.Tx) {
		require.NoError(t, r.Add(tx, 10))
		found, err := Find(tx, 0)
		require.NoError(t, err)
		assert.Equal(t, r, found, "before its answer")

		r.Reads = &Reads{Values: []objectdb.Address{{"own", "a.b"}, {"own", `"`}},
			Tables: []objectdb.Address{{"own"}, {}}, More: 7}
		r.SetOutcome(rec, 201, "abcdefgh", "failed with hush", r.Time.Add(3*time.Millisecond))
		require.NoError(t, r.AddOutcome(tx))
		found, err = Find(tx, 1)
		require.NoError(t, err)
		assert.Equal(t, r, found)
		assert.Equal(t, "(masked), made", found.Answer.Body)
		assert.Equal(t, "HTTP/1.0 201 Created\nSet-Cookie: sid=(masked); Path=/\n", found.Answer.Head)
		assert.Equal(t, "failed with (masked)", found.Error)
		assert.Equal(t, 3*time.Millisecond, found.Duration)

		found, err = FindIncident(tx, "abcdefgh")
		require.NoError(t, err)
		assert.Equal(t, r, found)
		_, err = FindIncident(tx, "hgfedcba")
		assert.ErrorIs(t, err, ErrNotFound)
		_, err = FindBefore(tx, 1)
		assert.ErrorIs(t, err, ErrNotFound)
		found, err = FindBefore(tx, 2)
		require.NoError(t, err)
		assert.Equal(t, 1, found.Number)
	})
}

// TestHeads checks what a list shows of recorded requests: masked, the newest first, and whatever
// is in a request that a script has damaged.
func TestHeads(t *testing.T) {
	update(t, func(tx *objectdb.Tx) {
		for range 3 {
			r := New(map[string]string{"REQUEST_METHOD": "GET", "REQUEST_URI": "/x?password=hush&a=1",
				"REMOTE_ADDR": "192.0.2.1", "REMOTE_USER": "ada"}, "", nil)
			r.Time = time.Unix(1e9, 0).UTC()
			require.NoError(t, r.Add(tx, 10))
		}
		r, err := Find(tx, 3)
		require.NoError(t, err)
		r.SetOutcome(&Recorder{Begun: r.Time}, 500, "abcdefgh", "failed", r.Time.Add(3*time.Millisecond))
		require.NoError(t, r.AddOutcome(tx))
		damaged := Log.Child("000000001")
		require.NoError(t, tx.Delete(damaged.Child("time")))
		require.NoError(t, tx.NewTable(damaged.Child("time")))
		require.NoError(t, tx.Put(damaged.Child("status"), objectdb.String("none")))
		require.NoError(t, tx.Put(damaged.Child("milliseconds"), objectdb.Number(1e300)))
		require.NoError(t, tx.Put(damaged.Child("variables"), objectdb.List{objectdb.Number(1), objectdb.String("x")}))
		require.NoError(t, tx.Put(Log.Child("000000004"), objectdb.String("no request")))
		require.NoError(t, tx.NewTable(Log.Child("5")))

		var list []*Head
		for h, err := range Heads(tx, 0) {
			require.NoError(t, err)
			list = append(list, h)
		}
		require.Len(t, list, 3)
		assert.Equal(t, &Head{Number: 3, Time: r.Time, Line: "GET /x?password=(masked)&a=1", User: "ada",
			Address: "192.0.2.1", Answered: true, Status: 500, Duration: 3 * time.Millisecond, Incident: "abcdefgh"}, list[0])
		assert.False(t, list[1].Answered)
		assert.Equal(t, 1, list[2].Number)
		assert.Zero(t, list[2].Time)
	})
}

// TestWithoutSecrets checks that secrets which were recorded as they are can be masked later, and
// that nothing changes in a request that was masked.
func TestWithoutSecrets(t *testing.T) {
	r := New(map[string]string{"REQUEST_METHOD": "POST", "QUERY_STRING": "token=hushone", "HTTP_COOKIE": "sid=hushtwo"},
		"password=hushthree&a=1", nil)
	r.Answer = &Answer{Status: 200, Head: "HTTP/1.0 200 OK\nX-Token: hushone\nSet-Cookie: sid=hushfour; Path=/\n",
		Body: "hushone hushthree"}
	r.Error = "failed with hushtwo"
	s := r.WithoutSecrets()
	assert.Equal(t, []string{"HTTP_COOKIE", "field password", "field token"}, s.Masked)
	assert.Equal(t, map[string]string{"REQUEST_METHOD": "POST", "QUERY_STRING": "token=(masked)",
		"HTTP_COOKIE": "sid=(masked)"}, s.Variables)
	assert.Equal(t, "password=(masked)&a=1", s.Body)
	assert.Equal(t, "HTTP/1.0 200 OK\nX-Token: (masked)\nSet-Cookie: sid=(masked); Path=/\n", s.Answer.Head)
	assert.Equal(t, "(masked) (masked)", s.Answer.Body)
	assert.Equal(t, "failed with (masked)", s.Error)
	assert.Equal(t, s, s.WithoutSecrets())
	assert.Equal(t, "hushone hushthree", r.Answer.Body, "the request stays as it was")
	assert.Empty(t, r.Masked)
}

// TestNewIsBounded checks that New leaves out long fields of the client before it leaves
// out variables of the server.
func TestNewIsBounded(t *testing.T) {
	variables := map[string]string{
		"SERVER_NAME": strings.Repeat("s", 30<<10), "HTTP_A": strings.Repeat("a", 40<<10), "HTTP_B": "b",
	}
	r := New(variables, strings.Repeat("x", maxBody+1), nil)
	assert.Equal(t, []string{"HTTP_A", "body"}, r.Cut)
	assert.Len(t, r.Variables, 2)
	assert.Len(t, r.Body, maxBody)
	assert.ErrorContains(t, r.Incomplete(), "of which the first 65536 were recorded")
}

func TestSetField(t *testing.T) {
	part := func(header, data string) string {
		return "--B\r\nContent-Disposition: form-data; " + header + "\r\n\r\n" + data + "\r\n"
	}
	r := &Request{Masked: []string{"field a"}, Variables: map[string]string{
		"QUERY_STRING": "a=(masked)&b=2", "REQUEST_URI": "/x?a=(masked)&b=2",
		"CONTENT_TYPE": "multipart/form-data; boundary=B",
	}, Body: part("name=a", "1") + part("name=b", "2") + part("name=a", "3") + "--B--\r\n"}
	require.NoError(t, r.SetField("a", "x y", "z"))
	assert.Equal(t, "a=x+y&b=2", r.Variables["QUERY_STRING"])
	assert.Equal(t, "/x?a=x+y&b=2", r.Variables["REQUEST_URI"])
	assert.Equal(t, part("name=a", "x y")+part("name=b", "2")+part("name=a", "z")+"--B--\r\n", r.Body)
	assert.Empty(t, r.Masked)
	assert.EqualError(t, r.SetField("c", "1"), `the request has no form field "c"`)
}

// TestName checks by which texts a recorded request is found, in any case of letters.
func TestName(t *testing.T) {
	update(t, func(tx *objectdb.Tx) {
		for _, incident := range []string{"abcdefgh", "22345672", ""} {
			r := &Request{Variables: map[string]string{}}
			require.NoError(t, r.Add(tx, 10))
			r.SetOutcome(&Recorder{}, 500, incident, "failed", r.Time)
			require.NoError(t, r.AddOutcome(tx))
		}
		for text, want := range map[string]int{"1": 1, "3": 3, "ABCDefgh": 1, "22345672": 2} {
			name, err := ParseName(text)
			require.NoError(t, err, text)
			r, err := name.Find(tx)
			require.NoError(t, err, text)
			assert.Equal(t, want, r.Number, text)
		}
		last, err := Name{}.Find(tx)
		require.NoError(t, err)
		assert.Equal(t, 3, last.Number)
		for _, text := range []string{"4", "abcdefgi", "22345673"} {
			name, err := ParseName(text)
			require.NoError(t, err, text)
			_, err = name.Find(tx)
			assert.ErrorIs(t, err, ErrNotFound, text)
		}
		for _, text := range []string{"", "0", "-1", "abc", "1.5", "abcdefg1"} {
			_, err := ParseName(text)
			assert.Error(t, err, text)
		}
	})
}
