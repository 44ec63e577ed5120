package httpform

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSpool(t *testing.T) {
	limits := Limits{Parts: 3, File: 16, Text: 9}
	for name, from := range map[string]io.Reader{
		"whole": strings.NewReader(upload + "epilogue"), "byte by byte": iotest.OneByteReader(strings.NewReader(upload + "epilogue")),
	} {
		var spooled bytes.Buffer
		parts, err := Spool(&spooled, from, "B", limits)
		require.NoError(t, err, name)
		assert.Equal(t, upload+"epilogue", spooled.String(), name)
		require.Len(t, parts, 3)
		assert.Equal(t, "Two words", parts[0].Data)
		assert.Equal(t, "", parts[1].Data)
		assert.Equal(t, "line 1\r\nline 2", upload[parts[1].Offset:][:parts[1].Size], name)
		assert.Equal(t, int64(0), parts[2].Size)
	}
	spool := func(l Limits, from io.Reader) error {
		_, err := Spool(io.Discard, from, "B", l)
		return err
	}
	assert.EqualError(t, spool(Limits{2, 16, 9}, strings.NewReader(upload)), "the form has more than 2 parts")
	assert.EqualError(t, spool(Limits{3, 13, 9}, strings.NewReader(upload)), `the file "up" has more than 13 bytes`)
	assert.EqualError(t, spool(Limits{3, 16, 8}, strings.NewReader(upload)), "the form has more than 8 bytes in its fields")
	assert.ErrorContains(t, spool(limits, strings.NewReader(upload[:len(upload)-6])), "the multipart form cannot be read")
	assert.ErrorIs(t, spool(limits, iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(upload)))), iotest.ErrTimeout)
}

// TestSpoolStops checks that no more is read of a file that is too large.
func TestSpoolStops(t *testing.T) {
	head, _, _ := strings.Cut(upload, "line 1")
	endless := io.MultiReader(strings.NewReader(head), zeros{})
	_, err := Spool(io.Discard, endless, "B", Limits{3, 1 << 20, 9})
	assert.Equal(t, &LimitError{Most: 1 << 20, IsFile: true, File: "up"}, err)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// FuzzSpool checks that a form that is spooled has the parts that ParseMultipart finds, at the places that
// Spool says.
func FuzzSpool(f *testing.F) {
	f.Add(upload, "B")
	f.Add("--B\nContent-Disposition: form-data; name=a; filename=x\n\nx\r\n\r\n--Bx\r\n--B--", "B")
	f.Add("preamble\r\n--B\r\nContent-Disposition: form-data; name=a; filename=x\r\n  y: z\r\n\r\n\r\n--B\r\n\r\n--B--\r\nmore", "B")
	f.Fuzz(func(t *testing.T, body, boundary string) {
		want, wantErr := ParseMultipart(body, boundary, 100)
		var spooled bytes.Buffer
		got, err := Spool(&spooled, strings.NewReader(body), boundary, Limits{Parts: 100, File: 1 << 20, Text: 1 << 20})
		require.Equal(t, wantErr == nil, err == nil, "%v, %v", wantErr, err)
		if err != nil {
			return
		}
		require.Equal(t, body, spooled.String())
		require.Equal(t, len(want), len(got))
		for i, p := range got {
			if p.File {
				p.Data = body[p.Offset : p.Offset+p.Size]
			}
			require.Equal(t, want[i], p.Part)
		}
	})
}

func BenchmarkSpool(b *testing.B) {
	body := strings.Replace(upload, "line 1", strings.Repeat("\x89PNG binary data 0123456789 \n and more of it, without many line ends", 1<<14), 1)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Spool(io.Discard, strings.NewReader(body), "B", Limits{10, 1 << 30, 1 << 20}); err != nil {
			b.Fatal(err)
		}
	}
}
