package admin_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"scripter/internal/browsertest"
	"scripter/internal/corpus"
	"scripter/internal/servertest"
	"scripter/site"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Close()
	corpus.RemovePrograms()
	os.Exit(code)
}

// password is that of everybody in these tests.
const password = "correct horse battery"

// startSite starts a site where ada is an owner.
func startSite(t *testing.T, setUp string) *servertest.Server {
	t.Helper()
	s := servertest.Start(t, setUp)
	addPerson(t, s, "ada", "owner")
	return s
}

// addPerson gives a person a role and the password.
func addPerson(t *testing.T, s *servertest.Server, name, role string) {
	t.Helper()
	hash, err := site.NewPasswords().Hash(context.Background(), password)
	require.NoError(t, err)
	s.Scripter(t, "put", "--parents", "user.webserver.users.default."+name, hash)
	s.Scripter(t, "put", "--parents", "user.webserver.roles."+name, role)
}

// logIn opens a tab where a person has logged in, and goes to a path below /scripter/.
func logIn(t *testing.T, s *servertest.Server, name, path string) *browsertest.Tab {
	t.Helper()
	b := browsertest.NewTab(t, s.URL)
	b.Open("/scripter/" + path)
	b.Type("Name", name)
	b.Type("Password", password)
	b.Click("Log in")
	b.SeeURL("/scripter/" + path)
	return b
}

// behind runs a test behind each kind of server.
func behind(t *testing.T, f func(t *testing.T, s *servertest.Server)) {
	for _, setUp := range servertest.BrowserSetUps {
		t.Run(setUp, func(t *testing.T) {
			t.Parallel()
			f(t, startSite(t, setUp))
		})
	}
}

// inspect looks at a page closely, behind one kind of server: the pages are the same behind all.
func inspect(t *testing.T, b *browsertest.Tab, name string) {
	t.Helper()
	if _, setUp, ok := strings.Cut(t.Name(), "/"); !ok || setUp == "serve" {
		b.Inspect(name)
	}
}

// TestBrowserLogIn: by mouse and by keyboard, with a wrong password, and out again.
func TestBrowserLogIn(t *testing.T) {
	behind(t, func(t *testing.T, s *servertest.Server) {
		b := browsertest.NewTab(t, s.URL)
		b.Open("/scripter/history")
		b.SeeTitle("Log in to Scripter · Scripter")
		inspect(t, b, "log-in")
		b.Type("Name", "ada")
		b.Type("Password", "wrong horse battery")
		b.Click("Log in")
		b.Has("alert", "")
		b.See("The name or the password is wrong.")
		b.Expect("status of 401")

		// The name is kept, and the focus is where the password is typed.
		require.Equal(t, "ada", b.Value("Name"))
		require.Equal(t, "textbox Password", b.Focus())
		b.Keys(password)
		b.Press("Enter")
		b.SeeURL("/scripter/history")

		b.TabTo("button", "Log out ada")
		b.Press("Enter")
		b.See("Log in to Scripter")
		b.Open("/scripter/history")
		b.See("Log in to Scripter")
	})
}
