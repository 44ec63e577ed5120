package gateway

import (
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
	"scripter/script"
)

const multipartB = "multipart/form-data; boundary=B"

// filePart returns a part of a multipart form with the boundary B.
func filePart(name, file, kind, data string) string {
	return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"" + file + "\"\r\n" +
		"Content-Type: " + kind + "\r\n\r\n" + data + "\r\n"
}

func fieldPart(name, text string) string {
	return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + text + "\r\n"
}

// png is enough of a picture to be one by its first bytes.
const png = "\x89PNG\r\n\x1a\n"

// TestUploads checks what scripts see of files, in a short form, which is held in memory, and in a long one,
// which is spooled.
func TestUploads(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.maxBody", objectdb.Number(20))
	for name, filler := range map[string]string{"short": "", "long": strings.Repeat("x\n", 200_000)} {
		form := fieldPart("title", "Two words") + filePart("photo", `C:\dir\my&photo&.png`, "text/html", png+filler) +
			filePart("photo", "b.txt", "text/csv", "\uFEFFa,b"+filler) + filePart("none", "", "application/octet-stream", "") + "--B--\r\n"
		for source, want := range map[string]string{
			`return params.argTable.title .. #params.postArgs`:                                                                         "Two words" + strconv.Itoa(len(form)),
			`local f = params.allFiles.photo [1] return f.name .. "|" .. f.type .. "|" .. f.claimedType`:                               "my_photo_.png|image/png|text/html",
			`local f = params.files.photo return f.filename .. "|" .. f.type .. "|" .. f.size`:                                         "b.txt|text/csv|" + strconv.Itoa(6+len(filler)),
			`return params.files.photo.text ():sub (1, 3)`:                                                                             "a,b",
			`return params.files.photo:text ():sub (1, 3)`:                                                                             "a,b",
			`return params.allFiles.photo [1].bytes (2, 4) .. params.allFiles.photo [1]:bytes (2, 4)`:                                  "PNGPNG",
			`local ok, why = pcall (params.allFiles.photo [1].text) return why`:                                                        `text: the file "my_photo_.png" is not UTF-8: bytes () gives it as it is`,
			`return params.files.photo.data:sub (4, 6) .. #params.allFiles.photo`:                                                      "a,b2",
			`return tostring (params.files.none.save) :match ("function") .. params.files.none.size`:                                   "function0",
			`local ok, why = pcall (params.files.none.save, "user.x") return why`:                                                      "save: no file was chosen",
			`local ok, why = pcall (params.files.photo.save) return why`:                                                               "bad argument #1 to 'save' (address expected, got no value)",
			`local n = {} for name in pairs (params.files.photo) do n [#n + 1] = name end table.sort (n) return table.concat (n, " ")`: "claimedType data filename name size type",
			`local f = params.files.photo for _ in pairs (f) do end return f.bytes (4, 6)`:                                             "a,b",
			`scratchpad.up = params.files.photo return scratchpad.up.filename .. #scratchpad.up.data`:                                  "b.txt" + strconv.Itoa(6+len(filler)),
			`return tostring (params.files.photo.save (user, "a.b", "c")) .. #user ["a.b"].c`:                                          `user.["a.b"].c` + strconv.Itoa(6+len(filler)),
			`params.allFiles.photo [1]:save ("user.p") return odb.kind ("user.p") .. user.p.type`:                                      "binaryimage/png",
		} {
			s.script("x", source)
			got := s.post("/x.fcgi", multipartB, form).Body
			assert.Equal(t, want, got[:min(len(got), 200)], "%s: %s", name, source)
		}
		assert.Equal(t, objectdb.Binary{Type: "image/png", Data: png + filler}, s.get("user.p"))
	}
}

// TestUploadLimits checks the limits of files: 413 with a sentence that says what is accepted, as soon as they are
// exceeded.
func TestUploadLimits(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.maxBody", objectdb.Number(4))
	s.put("user.webserver.maxFile", objectdb.Number(0.125))
	s.script("x", `return "taken"`)
	mega := strings.Repeat("x", 1<<20)
	for _, c := range []struct {
		form   string
		status int
		want   string
	}{
		{filePart("f", "a", "text/plain", mega[:128<<10]), 200, "taken"},
		{filePart("f", "a", "text/plain", mega[:128<<10+1]), 413, "The file is too large: 128 KB are accepted."},
		{filePart("f", "a", "text/plain", mega[:60<<10]), 200, "taken"},
		{fieldPart("f", mega), 200, "taken"},
		{strings.Repeat(fieldPart("f", mega), 5), 413, "The request is too large: it has 5 MB, and 4 MB are accepted."},
		{strings.Repeat(fieldPart("f", "x"), 1001), 413, "The request is too large."},
		{fieldPart("f", mega[:70<<10]) + "--B", 400, "The request could not be understood."},
	} {
		resp := s.post("/x.fcgi", multipartB, c.form+"--B--\r\n")
		if assert.Equal(t, c.status, resp.Status, c.want) {
			assert.Contains(t, resp.Body, c.want)
		}
	}
	s.limit("suites.webserverScripts.x", "maxFile", 0.01)
	assert.Equal(t, 413, s.post("/x.fcgi", multipartB, filePart("f", "a", "text/plain", mega[:60<<10])+"--B--\r\n").Status,
		"in a short form, and for one script")
	s.limit("suites.webserverScripts.x", "maxFile", 0)
	s.put("user.webserver.maxString", objectdb.Number(1))
	s.script("x", `local f = params.files.f
		local ok, one = pcall (f.save, "user.x") local ok, two = pcall (f.bytes) local ok, three = pcall (function () return f.data end)
		local ok, four = pcall (function () return params.postArgs end)
		for _ in pairs (f) do end
		return table.concat ({one, two, three, four, f.bytes (1, 3), #f.bytes (2)}, "\n")`)
	body := s.post("/x.fcgi", multipartB, filePart("f", "a", "text/plain", mega+"y")+"--B--\r\n").Body
	assert.Equal(t, 4, strings.Count(body, "(user.webserver.maxString)"), body)
	assert.Contains(t, body, "\nxxx\n1048576")
	s.script("x", `return "taken"`)
	assert.Equal(t, 413, s.post("/x.fcgi", multipartB, fieldPart("f", mega+"y")+"--B--\r\n").Status)
}

// TestUploadBroken checks the answers to forms that do not arrive whole, with a declared length and without.
func TestUploadBroken(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.maxBody", objectdb.Number(1))
	s.script("x", `return "taken " .. params.files.f.size`)
	form := filePart("f", "a", "text/plain", strings.Repeat("x", 100_000)) + "--B--\r\n"
	ask := func(length string, body io.Reader) (int, string) {
		r := s.request("/x.fcgi", map[string]string{"REQUEST_METHOD": "POST", "CONTENT_TYPE": multipartB, "CONTENT_LENGTH": length})
		r.Body = body
		resp, out := s.answer(r)
		if out.Err != nil {
			return resp.Status, out.Err.Error()
		}
		return resp.Status, resp.Body
	}
	status, text := ask(strconv.Itoa(len(form)), strings.NewReader(form[:len(form)-1000]))
	assert.Equal(t, 400, status)
	assert.Contains(t, text, "declared bytes")
	status, text = ask("-1", strings.NewReader(form))
	assert.Equal(t, 200, status)
	assert.Equal(t, "taken 100000", text)
	status, _ = ask("-1", io.MultiReader(strings.NewReader(form), strings.NewReader(strings.Repeat("x", 1<<20))))
	assert.Equal(t, 413, status)
	status, _ = ask("100000", nil)
	assert.Equal(t, 400, status)
	status, text = ask("200000", io.MultiReader(strings.NewReader(form[:1000]), failing{os.ErrDeadlineExceeded}))
	assert.Equal(t, 408, status, text)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestUploadAgain checks that a request that lost a race reads its spooled form again, and that no file is left.
func TestUploadAgain(t *testing.T) {
	s := newSite(t)
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	s.put("user.n", objectdb.Number(0))
	runs := 0
	s.g = newGateway(Options{DB: s.db}, script.Verb{Name: "test.call", Func: func(*script.Call) error {
		if runs++; runs == 1 {
			s.put("user.n", objectdb.Number(10))
		}
		return nil
	}})
	s.script("x", `local n = user.n test.call () user.n = n + 1 params.files.f.save ("user.f") return tostring (user.n)`)
	form := filePart("f", "a.png", "image/png", png+strings.Repeat("x", 100_000)) + "--B--\r\n"
	assert.Equal(t, "11", s.post("/x.fcgi", multipartB, form).Body)
	assert.Equal(t, 2, runs)
	assert.Equal(t, 100_008, len(s.get("user.f").(objectdb.Binary).Data))
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestUploadRecorded checks that Debugging records the fields and the names of files of a long form.
func TestUploadRecorded(t *testing.T) {
	s := newSite(t)
	s.put("user.webserver.flDebug", objectdb.Boolean(true))
	s.script("x", `return params.argTable.title`)
	form := fieldPart("title", "Tea") + fieldPart("password", "secret") +
		filePart("f", "a.png", "image/png", png+strings.Repeat("x", 100_000)) + "--B--\r\n"
	assert.Equal(t, "Tea", s.post("/x.fcgi", multipartB, form).Body)
	k := s.lastRecorded()
	assert.Equal(t, int64(len(form)), k.BodySize)
	assert.Contains(t, k.Body, `filename="a.png"`)
	assert.Contains(t, k.Body, "Tea")
	assert.NotContains(t, k.Body, "secret")
	assert.Less(t, len(k.Body), 3000)
	assert.ErrorContains(t, k.Incomplete(), "bytes, of which the first")
	assert.Equal(t, objectdb.String("a.png"), s.get("scratchpad.cgiparams.files.f.name"))
	assert.Equal(t, objectdb.Number(100_008), s.get("scratchpad.cgiparams.files.f.size"))
}

// TestUploadMemory checks that a long form is not held in memory.
func TestUploadMemory(t *testing.T) {
	s := newSite(t)
	const size = 200 << 20
	s.put("user.webserver.maxBody", objectdb.Number(1000))
	s.script("x", `local f = params.files.f return f.name .. " " .. f.size .. " " .. f.type .. " " .. f.bytes (f.size, f.size)`)
	head, tail := strings.TrimSuffix(filePart("f", "film.mp4", "video/mp4", ""), "\r\n"), "\r\n--B--\r\n"
	r := s.request("/x.fcgi", map[string]string{"REQUEST_METHOD": "POST", "CONTENT_TYPE": multipartB,
		"CONTENT_LENGTH": strconv.Itoa(len(head) + size + len(tail))})
	peak := uint64(0)
	r.Body = io.MultiReader(strings.NewReader(head), &watched{left: size, peak: &peak}, strings.NewReader(tail))
	resp, _ := s.answer(r)
	assert.Equal(t, "film.mp4 209715200 video/mp4 \x00", resp.Body)
	assert.Less(t, peak, uint64(40<<20))
}

// watched gives zeros, and records how much memory is in use.
type watched struct {
	left, since int
	peak        *uint64
}

func (w *watched) Read(p []byte) (int, error) {
	if w.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), w.left)
	clear(p[:n])
	w.left -= n
	if w.since += n; w.since > 20<<20 {
		w.since = 0
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		*w.peak = max(*w.peak, m.HeapInuse)
	}
	return n, nil
}

func TestCleanName(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "a.txt": "a.txt", "../../etc/passwd": "passwd", `C:\x\y z.jpg`: "y z.jpg", "Ärger.pdf": "Ärger.pdf",
		".htaccess": "htaccess", "..": "file", "/": "file", "a\r\nb\x00.txt": "a__b_.txt", "\xff.txt": "_.txt",
		"gpj.\u202Eexe": "gpj.exe", "a<script>.html": "a_script_.html", " x . ": "x", "con\u00a0x": "con x",
		strings.Repeat("ä", 100): strings.Repeat("ä", 60),
	} {
		assert.Equal(t, want, cleanName(name), "%q", name)
	}
}

func TestSniffedType(t *testing.T) {
	for _, c := range [][3]string{
		{png, "text/html", "image/png"},
		{"<!DOCTYPE html><p>", "image/png", "text/html"},
		{"  <SVG xmlns=x>", "image/png", "image/svg+xml"},
		{`<?xml version="1.0"?><!-- x --><svg>`, "text/plain", "image/svg+xml"},
		{"plain text", "text/html", "text/plain"},
		{"plain text", "image/svg+xml", "text/plain"},
		{"plain text", "text/csv; charset=latin1", "text/csv"},
		{"{}", "application/json", "application/json"},
		{"alert (1)", "text/javascript", "text/plain"},
		{"plain text", "image/png", "text/plain"},
		{"PK\x03\x04", "application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text"},
		{"PK\x03\x04", "image/png", "application/zip"},
		{"\x00\x01\x02", "video/x-unknown", "video/x-unknown"},
		{"\x00\x01\x02", "text/html", "application/octet-stream"},
		{"\x00\x01\x02", "a\r\nb", "application/octet-stream"},
		{"", "text/markdown", "text/markdown"},
	} {
		assert.Equal(t, c[2], sniffedType(c[0], c[1]), "%q, %s", c[0], c[1])
	}
}

// FuzzCleanName checks that a clean name is a name of the root, of a file and in a header field, and stays clean.
func FuzzCleanName(f *testing.F) {
	f.Add("../x.txt")
	f.Add("\x00\u202e\xff")
	f.Fuzz(func(t *testing.T, name string) {
		clean := cleanName(name)
		assert.Equal(t, name == "", clean == "")
		if clean != "" {
			assert.NoError(t, objectdb.CheckName(clean))
			assert.False(t, strings.ContainsAny(clean, "\"/\\\r\n\x00;<>"), clean)
			assert.Equal(t, clean, cleanName(clean))
			assert.LessOrEqual(t, len(clean), maxCleanName)
			assert.NotEqual(t, ".", clean[:1])
		}
	})
}
