package admin

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"scripter/gateway"
	"scripter/login"
	"scripter/objectdb"
	"scripter/site"
)

// Config says what the web page works with. DB and Gateway are needed.
type Config struct {
	DB      *objectdb.DB
	Gateway *gateway.Gateway
	Log     *slog.Logger     // nil: nothing is logged
	Now     func() time.Time // nil: time.Now
	// Local says that the program runs for the person at its machine: see [login.Config].
	Local bool
}

// Server answers the requests of the web page. It is safe for concurrent use.
type Server struct {
	Config
	once     sync.Once
	mux      *http.ServeMux
	patterns []string // of all pages
	login    *login.Login
	runs     chan struct{} // holds an item for each run that a person has asked for
	aside    func() *gateway.Gateway
}

// New returns a server.
func New(c Config) *Server {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Server{
		Config: c, mux: http.NewServeMux(), runs: make(chan struct{}, mostRuns),
		login: login.New(login.Config{
			DB: c.DB, Site: c.Gateway.Site(), Passwords: c.Gateway.Passwords(), Now: c.Now, Local: c.Local,
		}),
		aside: sync.OnceValue(func() *gateway.Gateway { return c.Gateway.On(c.DB, nil) }),
	}
}

// Answers reports whether the web page is there at all: whether somebody may use it.
func (s *Server) Answers(snapshot *site.Snapshot) bool { return s.login.Answers(snapshot) }

// Link returns the path and query of a link that logs the person at this machine in, once.
func (s *Server) Link(ctx context.Context, name string) (string, error) {
	base := ""
	err := s.DB.View(ctx, func(tx *objectdb.Tx) error {
		snapshot, err := s.Gateway.Site().Snapshot(tx)
		if err == nil {
			base = snapshot.String(site.AdminPath)
		}
		return err
	})
	if err != nil || base == "" {
		return "", err
	}
	token, err := s.login.OneTime(ctx, name)
	return base + "login?" + url.Values{"link": {token}}.Encode(), err
}

// routes lists all pages. Their paths are relative to the path of the web page.
func (s *Server) routes() {
	s.mux.HandleFunc("GET /static/{hash}/{name}", s.static)
	s.page("GET /login", everybody, (*call).loginPage)
	s.page("POST /login", everybody, (*call).logIn)
	s.page("POST /logout", everybody, (*call).logOut)

	s.page("GET /{$}", readers, (*call).home)
	s.objectRoutes()
	s.editRoutes()
	s.findRoutes()
	s.runRoutes()
	s.requestRoutes()
	s.historyRoutes()
	s.mapRoutes()
	s.thenRoutes()
	s.settingsRoutes()
	s.userRoutes()
	s.copyRoutes()
	s.doctorRoutes()
	s.statusRoutes()
	s.page("/", readers, func(c *call) (*result, error) { return nil, c.notFound() })
}

// who may see a page.
type who int

const (
	everybody who = iota // without log-in
	readers              // every role
	owners
)

// page registers the function that makes a page.
func (s *Server) page(pattern string, admitted who, fn func(*call) (*result, error)) {
	s.patterns = append(s.patterns, pattern)
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		c := r.Context().Value(callKey{}).(*call)
		c.w, c.r = w, r // with the values of the pattern
		c.answer(admitted, fn)
	})
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	secure(w.Header())
	c, err := s.newCall(w, r)
	if err != nil {
		s.Log.Error("web page", "path", r.URL.Path, "err", err)
		http.Error(w, text("error.500"), http.StatusInternalServerError)
		return
	}
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("web page", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			http.Error(w, text("error.500"), http.StatusInternalServerError)
		}
	}()
	if c.base == "" {
		http.NotFound(w, r)
		return
	}
	if r.URL.Path+"/" == c.base {
		http.Redirect(w, r, c.base, http.StatusSeeOther)
		return
	}
	s.once.Do(s.routes) // not before: a CGI process for a visitor needs none of them
	s.mux.ServeHTTP(w, c.r)
	if c.user != "" {
		if err := s.login.Touch(r.Context(), c.session); err != nil {
			s.Log.Warn("web page: the use of a session was not noted", "user", c.user, "err", err)
		}
	}
}

// contentSecurityPolicy allows nothing inline and no other host.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// secure sets the header fields that every answer has.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "private, no-store")
	h.Set("X-Robots-Tag", "noindex, nofollow")
}

// cutJSON removes the suffix with which a client asks for the JSON form of a page.
func cutJSON(path string) (rest string, asked bool) { return strings.CutSuffix(path, ".json") }
