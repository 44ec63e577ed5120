package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jlaffaye/ftp"
)

// download is a file to fetch from the net, of at most limit bytes.
type download struct {
	url   *url.URL
	limit int64
	bar   *progress
}

// isURL reports whether an import reads from a URL and not from a file.
func isURL(source string) bool { return strings.Contains(source, "://") }

func parseURL(source string) (*url.URL, error) {
	u, err := url.Parse(source)
	if err != nil {
		return nil, usageError{err}
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ftp":
		return nil, usageError{fmt.Errorf("%s: an archive is fetched by http, https or ftp", u.Redacted())}
	case u.Host == "":
		return nil, usageError{fmt.Errorf("%s names no server", u.Redacted())}
	case u.Scheme == "ftp" && u.User != nil:
		return nil, usageError{fmt.Errorf("%s: ftp is anonymous here, for a password would travel in the clear",
			u.Redacted())}
	}
	return u, nil
}

// fetch downloads to a temporary file, which has no name and is gone when it
// is closed.
func (d *download) fetch(ctx context.Context) (*os.File, int64, error) {
	file, err := os.CreateTemp("", "scripter-download-*")
	if err != nil {
		return nil, 0, err
	}
	err = os.Remove(file.Name())
	size := int64(0)
	if err == nil {
		if d.url.Scheme == "ftp" {
			size, err = d.ftp(ctx, file)
		} else {
			size, err = d.http(ctx, file)
		}
	}
	if err != nil {
		file.Close()
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, 0, fmt.Errorf("fetch %s: %w", d.url.Redacted(), err)
	}
	return file, size, nil
}

var errTooLong = errors.New("the file is larger than an archive may be")

// copy copies up to the limit.
func (d *download) copy(file io.Writer, from io.Reader, size int64) (int64, error) {
	if size > d.limit {
		return 0, fmt.Errorf("%w: %d bytes, at most %d are allowed", errTooLong, size, d.limit)
	}
	d.bar.total = max(size, 0)
	n, err := io.Copy(io.MultiWriter(file, d.bar), io.LimitReader(from, d.limit+1))
	if err == nil && n > d.limit {
		err = fmt.Errorf("%w: more than %d bytes", errTooLong, d.limit)
	}
	return n, err
}

func (d *download) http(ctx context.Context, file io.Writer) (int64, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // a tar.gz must stay as it is
	transport.MaxResponseHeaderBytes = 1 << 20
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(to *http.Request, via []*http.Request) error {
		switch {
		case to.URL.Scheme != d.url.Scheme:
			return fmt.Errorf("the server redirects to %s, which is another scheme", to.URL.Redacted())
		case len(via) > 5:
			return errors.New("the server redirects more than five times")
		}
		return nil
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url.String(), nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("User-Agent", "Scripter/"+version)
	resp, err := client.Do(req)
	if err != nil {
		if wrapped := new(url.Error); errors.As(err, &wrapped) {
			err = wrapped.Err // the message already has the URL
		}
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("the server answered %s", resp.Status)
	}
	return d.copy(file, resp.Body, resp.ContentLength)
}

// ftp fetches the file as anybody may (RFC 1635). The path is taken from the folder
// where the server puts the visitor (RFC 1738, 3.2.2), and the data only
// from the host that the URL names.
func (d *download) ftp(ctx context.Context, file io.Writer) (size int64, err error) {
	// The library expects well-formed replies and may panic on others.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the server's replies make no sense: %v", r)
		}
	}()
	addr := d.url.Host
	if d.url.Port() == "" {
		addr = net.JoinHostPort(d.url.Hostname(), "21")
	}
	conn, err := ftp.Dial(addr, ftp.DialWithDialFunc(ftpDialer(ctx)))
	if err != nil {
		return 0, err
	}
	defer conn.Quit()
	if err := conn.Login("anonymous", "anonymous@"); err != nil {
		return 0, err
	}
	path := strings.TrimPrefix(d.url.Path, "/")
	length, err := conn.FileSize(path)
	if err != nil {
		length = 0 // some servers do not support SIZE
	}
	data, err := conn.Retr(path)
	if err != nil {
		return 0, err
	}
	size, err = d.copy(file, data, length)
	// Only now the server reports whether it has sent the whole file.
	if err == nil {
		err = data.Close()
	}
	if err == nil && length > 0 && size != length {
		err = fmt.Errorf("%d bytes came, the server has %d", size, length)
	}
	return size, err
}

// ftpDialer returns a function that makes the connections of one download. They end with
// ctx. The first one, for commands, is limited to 1 MB.
func ftpDialer(ctx context.Context) func(network, addr string) (net.Conn, error) {
	commands := true
	return func(network, addr string) (net.Conn, error) {
		dialer := net.Dialer{Timeout: 30 * time.Second}
		conn, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		if commands {
			commands = false
			return &limitedConn{conn, io.LimitReader(conn, 1<<20)}, nil
		}
		return conn, nil
	}
}

type limitedConn struct {
	net.Conn
	r io.Reader
}

func (c *limitedConn) Read(p []byte) (int, error) { return c.r.Read(p) }
