package fcgi

import (
	"context"
	"errors"
	"log"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Server serves FastCGI requests. Set the fields before the first call of
// Serve; a Server that was shut down is not used again.
type Server struct {
	Handler Handler // must be set
	Limits  Limits  // zero fields mean the defaults

	// Log gets errors that no handler gets: panics, peers that do not speak FastCGI or are
	// too slow, accept errors. Nil means the standard logger.
	Log func(err error)

	once    sync.Once
	limits  Limits
	started time.Time // when init was called

	// The addresses in FCGI_WEB_SERVER_ADDRS, which may connect by TCP (section 3.2); empty:
	// all. Unix sockets are protected by their file mode.
	allowed    []netip.Addr
	allowedErr error

	closing   atomic.Bool
	requests  atomic.Int64 // open ones
	monitored atomic.Bool  // the monitor runs

	mu        sync.Mutex
	closed    bool // Close was called
	conns     map[*conn]struct{}
	listeners map[net.Listener]struct{}
	empty     chan struct{} // closed when the last connection of a closing server is gone
	room      chan struct{} // a connection has ended
}

func (s *Server) init() {
	s.once.Do(func() {
		s.limits = s.Limits.withDefaults()
		s.started = time.Now()
		s.allowed, s.allowedErr = parseAddrs(os.Getenv("FCGI_WEB_SERVER_ADDRS"))
		s.conns = map[*conn]struct{}{}
		s.listeners = map[net.Listener]struct{}{}
		s.empty = make(chan struct{})
		s.room = make(chan struct{}, 1)
	})
}

// now returns the time since the server was first used. It does not follow changes of the
// system's clock.
func (s *Server) now() time.Duration { return time.Since(s.started) }

// Serve accepts connections from l and serves them until l is closed or the server is shut
// down; it then returns ErrServerClosed. It closes l. It goes on if the process runs out of
// descriptors or memory.
func (s *Server) Serve(l net.Listener) error {
	s.init()
	if s.allowedErr != nil {
		l.Close()
		return s.allowedErr
	}
	if !s.addListener(l) {
		l.Close()
		return ErrServerClosed
	}
	defer s.dropListener(l)
	return s.accept(l)
}

// Shutdown stops accepting, closes idle connections and waits until the running requests are
// answered. If ctx ends first, it does what Close does and returns ctx.Err(). Connections
// that wait in the queue of a socket that Listen opened are still served; the queue of an
// inherited socket is left to the next process.
func (s *Server) Shutdown(ctx context.Context) error {
	s.init()
	for _, l := range s.close() {
		drainListener(l)
	}
	select {
	case <-s.empty:
		return nil
	case <-ctx.Done():
		s.Close()
		return ctx.Err()
	}
}

// Close closes all sockets at once and cancels the contexts of running
// requests. It does not wait for their handlers.
func (s *Server) Close() error {
	s.init()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	var errs []error
	for _, l := range s.close() {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	for _, c := range s.snapshot(nil) {
		c.drop(ErrServerClosed)
	}
	return errors.Join(errs...)
}

// close marks the server as closing, ends idle connections and returns the listeners.
func (s *Server) close() []net.Listener {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing.Store(true)
	s.checkEmpty()
	for c := range s.conns {
		c.interrupt()
	}
	return slices.Collect(maps.Keys(s.listeners))
}

func (s *Server) addListener(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.listeners[l] = struct{}{}
	return true
}

func (s *Server) dropListener(l net.Listener) {
	l.Close()
	s.mu.Lock()
	delete(s.listeners, l)
	s.checkEmpty()
	s.mu.Unlock()
}

// errFull says that there is no room for another connection.
var errFull = errors.New("fcgi: too many connections")

// addConn makes c one of the server's connections.
func (s *Server) addConn(c *conn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrServerClosed
	case len(s.conns) >= s.limits.Conns:
		return errFull
	}
	s.conns[c] = struct{}{}
	return nil
}

func (s *Server) dropConn(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.checkEmpty()
	s.mu.Unlock()
	select {
	case s.room <- struct{}{}:
	default:
	}
}

// checkEmpty closes s.empty if there is nothing left to wait for. The caller holds s.mu.
func (s *Server) checkEmpty() {
	if !s.closing.Load() || len(s.conns) > 0 || len(s.listeners) > 0 {
		return
	}
	select {
	case <-s.empty:
	default:
		close(s.empty)
	}
}

// snapshot appends the present connections to dst.
func (s *Server) snapshot(dst []*conn) []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		dst = append(dst, c)
	}
	return dst
}

func (s *Server) report(err error) {
	if s.Log != nil {
		s.Log(err)
		return
	}
	log.Print(err)
}

// newConnGrace is how long a closing server waits for the first request of a
// connection: its bytes may be under way.
const newConnGrace = 500 * time.Millisecond
