package gateway

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"scripter/httpform"
	"scripter/runner"
	"scripter/site"
)

// A spool is a multipart form that lies in a temporary file, whatever its size. All attempts of a request
// read it.
type spool struct {
	file  *os.File // without a name: it ends with the process
	size  int64
	parts []httpform.SpooledPart
}

// formBounds are the limits of a form.
type formBounds struct {
	fields runner.Bound // number of fields and parts
	file   runner.Bound // bytes of one file
	text   runner.Bound // bytes of a text that a script gets
}

// formBoundsOf returns the limits of the forms that a script answers.
func formBoundsOf(limits site.Limits) formBounds {
	b := formBounds{
		fields: runner.CountOf(limits, site.MaxFields), file: runner.SizeOf(limits, site.MaxFile),
		text: runner.SizeOf(limits, site.MaxString),
	}
	if b.file.Most == 0 {
		b.file.Most = math.MaxInt64 - 1 // that of the body
	}
	return b
}

// isSpooled reports whether the body of the request is read into a file: a multipart form that is long, or
// whose length is not known.
func (x *exchange) isSpooled() bool {
	n, err := contentLength(x.request.Params)
	if err != nil || 0 <= n && n <= smallBody || n > x.plan.maxBody.Most || x.isAdmin() {
		return false
	}
	media, _, err := httpform.Media(x.request.Params["CONTENT_TYPE"])
	return err == nil && media == httpform.Multipart
}

// readSpool reads the body of the request, a multipart form, into a file. The limits hold as it arrives: what
// comes after one of them is exceeded is not read.
func (x *exchange) readSpool() (err error) {
	n, err := contentLength(x.request.Params)
	if err != nil {
		return err
	}
	_, boundary, err := httpform.Media(x.request.Params["CONTENT_TYPE"])
	if err != nil {
		return formError(err, x.plan.form)
	}
	file, err := runner.TempFile("scripter-body-")
	if err != nil {
		return fmt.Errorf("spool the body: %w", err)
	}
	s := &spool{file: file}
	defer func() {
		if err != nil {
			file.Close()
		}
	}()
	most := n
	if n < 0 {
		most = x.plan.maxBody.Most + 1
	}
	from := x.request.Body
	if from == nil {
		from = new(emptyReader)
	}
	body := &bodyReader{from: io.LimitReader(from, most)}
	s.parts, err = httpform.Spool(spoolWriter{file}, body, boundary, httpform.Limits{
		Parts: x.plan.form.fields.Most, File: x.plan.form.file.Most, Text: x.plan.form.text.Most,
	})
	s.size = body.got
	var full *spoolError
	switch {
	case errors.As(err, &full):
		return full
	case body.err != nil:
		return bodyError(body.err, body.got)
	case body.got > x.plan.maxBody.Most:
		return tooLarge(x.plan.maxBody, "the body has more than %d bytes", x.plan.maxBody.Most)
	case n > 0 && body.ended && body.got < n:
		return shortBody(body.got, n)
	case err != nil:
		return formError(err, x.plan.form)
	}
	x.spool = s
	return nil
}

// text returns bytes of the form. An error of the file is a panic, which fails the request: scripts could do
// nothing with it.
func (s *spool) text(offset, size int64) string {
	b := make([]byte, size)
	if _, err := s.file.ReadAt(b, offset); err != nil {
		panic(fmt.Errorf("read the spooled body: %w", err))
	}
	return string(b)
}

// excerpt returns the form with the beginnings of its files, for the recorded requests.
func (s *spool) excerpt(boundary string) string {
	const most = 1 << 10 // bytes of a file
	parts := make([]httpform.Part, len(s.parts))
	for i, p := range s.parts {
		parts[i] = p.Part
		if p.File {
			parts[i].Data = s.text(p.Offset, min(p.Size, most))
		}
	}
	return httpform.FormatMultipart(parts, boundary)
}

// bodySize returns the size of the body as it arrived, in bytes.
func (x *exchange) bodySize() int64 {
	if x.spool != nil {
		return x.spool.size
	}
	return int64(len(x.body))
}

// A bodyReader counts what is read of a body, and records why it ended.
type bodyReader struct {
	from  io.Reader
	got   int64
	ended bool  // there is no more
	err   error // it could not be read
}

func (r *bodyReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.got += int64(n)
	switch {
	case err == io.EOF:
		r.ended = true
	case err != nil:
		r.err = err
	}
	return n, err
}

// A spoolWriter writes to the file of a spool.
type spoolWriter struct{ file *os.File }

func (w spoolWriter) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if err != nil {
		err = &spoolError{err}
	}
	return n, err
}

// A spoolError says that a body could not be written to its file: the disk is full, for instance.
type spoolError struct{ err error }

func (e *spoolError) Error() string { return "spool the body: " + e.err.Error() }

func (e *spoolError) Unwrap() error { return e.err }

type emptyReader struct{}

func (*emptyReader) Read([]byte) (int, error) { return 0, io.EOF }
