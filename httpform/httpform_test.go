package httpform

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMedia(t *testing.T) {
	for contentType, want := range map[string][2]string{
		"":                                          {URLEncoded, ""},
		"application/x-www-form-urlencoded":         {URLEncoded, ""},
		"Application/X-WWW-Form-Urlencoded; a=b":    {URLEncoded, ""},
		"multipart/form-data; boundary=B":           {Multipart, "B"},
		`multipart/form-data; boundary="a b"; x=1`:  {Multipart, "a b"},
		"application/json; charset":                 {"application/json", ""},
		"multipart/form-data; boundary=B; boundary": {Multipart, ""},
	} {
		media, boundary, err := Media(contentType)
		require.NoError(t, err, contentType)
		assert.Equal(t, want, [2]string{media, boundary}, contentType)
	}
	_, _, err := Media("/;=")
	assert.EqualError(t, err, `the content type "/;=" is none`)
}

func TestEachField(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "",
		"a=1&b=2":            "a:1 b:2",
		"a":                  "a:",
		"a=b=c":              "a:b=c",
		"a=1&&b=2&":          "a:1 b:2",
		"x+y=%41%2b+%C3%A4":  "x y:A+ ä",
		"__index=1&a.b=2&=3": "__index:1 a.b:2 :3",
		"a=100%&b=%zz&c=%4":  "a:100% b:%zz c:%4",
		"a=%00":              "a:\x00",
	} {
		var fields []string
		err := EachField(text, 10, false, func(name, value string) { fields = append(fields, name+":"+value) })
		require.NoError(t, err, text)
		assert.Equal(t, want, strings.Join(fields, " "), text)
	}
	none := func(_, _ string) { t.Error("a field was added") }
	assert.Equal(t, &LimitError{Most: 10, what: "fields"}, EachField(strings.Repeat("a=1&", 11), 10, false, none))
	assert.ErrorContains(t, EachField("a=%zz", 10, true, none), `the form field "a=%zz"`)
}

func TestReplaceValues(t *testing.T) {
	got := ReplaceValues("a=1&%61=x%20y&b=2&a&&c=3", func(name, encoded string) string {
		if name == "a" {
			return "(" + encoded + ")"
		}
		return encoded
	})
	assert.Equal(t, "a=(1)&%61=(x%20y)&b=2&a&&c=3", got)
}

const upload = "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nTwo words\r\n" +
	"--B\r\nContent-Disposition: form-data; name=\"up\"; filename=\"../../etc/x.txt\"\r\n" +
	"Content-Type: text/plain\r\n\r\nline 1\r\nline 2\r\n" +
	"--B\r\nContent-Disposition: form-data; name=\"none\"; filename=\"\"\r\n\r\n\r\n" +
	"--B--\r\n"

func TestParseMultipart(t *testing.T) {
	parts, err := ParseMultipart(upload, "B", 3)
	require.NoError(t, err)
	require.Len(t, parts, 3)
	assert.Equal(t, []string{"title", "up", "none"}, []string{parts[0].Name, parts[1].Name, parts[2].Name})
	assert.Equal(t, []bool{false, true, true}, []bool{parts[0].File, parts[1].File, parts[2].File})
	assert.Equal(t, "Two words", parts[0].Data)
	assert.Equal(t, "line 1\r\nline 2", parts[1].Data)
	assert.Equal(t, "x.txt", parts[1].FileName, "a file name is never a path")
	assert.Equal(t, "", parts[2].FileName)
	assert.Equal(t, upload, FormatMultipart(parts, "B"))

	_, err = ParseMultipart(upload, "B", 2)
	assert.Equal(t, &LimitError{Most: 2, what: "parts"}, err)
	for _, boundary := range []string{"", strings.Repeat("x", 71)} {
		_, err = ParseMultipart(upload, boundary, 3)
		assert.ErrorContains(t, err, "the multipart form cannot be read", boundary)
	}
}

// FuzzParseMultipart checks that a form that was parsed and formatted has the same parts
// when it is parsed again.
func FuzzParseMultipart(f *testing.F) {
	f.Add(upload, "B")
	f.Add("--B\nContent-Disposition: form-data; name=a\n\nx\r\n--B--", "B")
	f.Add("--B\nn:0\n \n\n--B", "B")
	f.Add("--B\r\n\r\n--Bx\r\n--B \r\nX:\r\n\r\n\r\n--B--", "B")
	f.Fuzz(func(t *testing.T, body, boundary string) {
		parts, err := ParseMultipart(body, boundary, 100)
		if err != nil {
			return
		}
		again, err := ParseMultipart(FormatMultipart(parts, boundary), boundary, 100)
		require.NoError(t, err)
		require.Equal(t, len(parts), len(again))
		for i, p := range parts {
			for _, values := range p.Header {
				for j, v := range values {
					values[j] = strings.TrimRight(v, " \t")
				}
			}
			require.Equal(t, p, again[i])
		}
	})
}

func BenchmarkEachField(b *testing.B) {
	text := strings.Repeat("field=some+value%21with%20escapes&", 20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := EachField(text, 1000, true, func(_, _ string) {}); err != nil {
			b.Fatal(err)
		}
	}
}
