package conf_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/corpus"
	"scripter/internal/servertest"
)

const adminPassword = "correct horse battery"

// addOwner makes somebody who may use the web page.
func addOwner(t *testing.T, site *corpus.Site, name string) {
	t.Helper()
	c := exec.Command(site.Program("scripter"), "--root", site.Root, "users", "add", name, "--role", "owner")
	c.Stdin = strings.NewReader(adminPassword + "\n")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// person is a browser on the web page.
type person struct {
	t      *testing.T
	client http.Client
	base   string // http://HOST:PORT/scripter/
}

func newPerson(t *testing.T, addr string) *person {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &person{t: t, base: "http://" + addr + "/scripter/", client: http.Client{Jar: jar}}
}

func (p *person) do(r *http.Request) (*http.Response, string) {
	p.t.Helper()
	resp, err := p.client.Do(r)
	require.NoError(p.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(p.t, err)
	return resp, string(body)
}

func (p *person) get(path string) (*http.Response, string) {
	r, err := http.NewRequest(http.MethodGet, p.base+path, nil)
	require.NoError(p.t, err)
	return p.do(r)
}

func (p *person) post(path string, fields url.Values) (*http.Response, string) {
	r, err := http.NewRequest(http.MethodPost, p.base+path, strings.NewReader(fields.Encode()))
	require.NoError(p.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return p.do(r)
}

// TestWebPage uses the web page for people behind each web server: it logs in, reads, writes, asks
// for the JSON form, for odd names and for a large answer, and logs out.
func TestWebPage(t *testing.T) {
	for _, s := range servertest.SetUps {
		t.Run(s.Name(), func(t *testing.T) {
			t.Parallel()
			s := servertest.Named(t, s.Name())
			site := corpus.NewSite(t)
			client := s.Start(t, site)
			p := newPerson(t, client.Addr)
			for _, path := range []string{"", "login", "at/user"} {
				resp, _ := p.get(path)
				assert.Equal(t, 404, resp.StatusCode, "nobody may use it: %s", path)
			}
			addOwner(t, site, "ada")

			resp, body := p.get("at/user.webserver")
			require.Equal(t, 200, resp.StatusCode, body)
			assert.Equal(t, "/scripter/login", resp.Request.URL.Path, "the log-in page")
			resp, _ = p.post("login", url.Values{"name": {"ada"}, "password": {"wrong"}})
			assert.Equal(t, 401, resp.StatusCode)
			resp, body = p.post("login", url.Values{"name": {"ada"}, "password": {adminPassword}, "to": {"/scripter/at/user.webserver"}})
			require.Equal(t, 200, resp.StatusCode, body)
			assert.Equal(t, "/scripter/at/user.webserver", resp.Request.URL.Path)
			assert.Contains(t, body, "chunkSize")
			assert.Contains(t, resp.Header.Get("Content-Security-Policy"), "default-src 'none'")
			assert.Contains(t, resp.Header.Get("Cache-Control"), "no-store")
			csrf := regexp.MustCompile(`data-csrf="([^"]+)"`).FindStringSubmatch(body)[1]
			for _, asset := range regexp.MustCompile(`/scripter/(static/[^"]+)"`).FindAllStringSubmatch(body, -1) {
				resp, body := p.get(asset[1])
				assert.Equal(t, 200, resp.StatusCode, asset[1])
				assert.Contains(t, resp.Header.Get("Cache-Control"), "immutable", asset[1])
				assert.Greater(t, len(body), 5000, asset[1])
			}

			resp, _ = p.post("at/user", url.Values{"csrf": {csrf}, "do": {"new"}, "name": {"notes"}, "kind": {"table"}})
			assert.Equal(t, 200, resp.StatusCode)
			assert.Equal(t, "/scripter/at/user.notes", resp.Request.URL.Path)
			for _, name := range []string{"a/b", "x.mcro", "y.fcgi", "my.root", "scripter.conf", "..", "é %2F $", ".git", "page.mcro~"} {
				resp, body = p.post("at/user.notes", url.Values{"csrf": {csrf}, "do": {"new"}, "name": {name}, "kind": {"string"}})
				assert.Equal(t, 200, resp.StatusCode, "%s: %.300s", name, body)
				resp, _ = p.get(strings.TrimPrefix(resp.Request.URL.RequestURI(), "/scripter/"))
				assert.Equal(t, 200, resp.StatusCode, name)
			}
			for _, name := range []string{"root", "mcro", "fcgi", "conf", "log", "json", "acgi"} {
				resp, body = p.post("at/user.notes", url.Values{"csrf": {csrf}, "do": {"new"}, "name": {name}, "kind": {"table"}})
				assert.Equal(t, 200, resp.StatusCode, "%s: %.300s", name, body)
				resp, body = p.post(strings.TrimPrefix(resp.Request.URL.RequestURI(), "/scripter/"),
					url.Values{"csrf": {csrf}, "do": {"new"}, "name": {"below"}, "kind": {"string"}})
				assert.Equal(t, 200, resp.StatusCode, "%s: %.300s", name, body)
			}
			resp, body = p.get("at/user.notes.json")
			assert.Equal(t, 200, resp.StatusCode)
			assert.Contains(t, resp.Header.Get("Content-Type"), "application/json")
			assert.Contains(t, body, `"a/b"`)
			resp, _ = p.get("nothing/here")
			assert.Equal(t, 404, resp.StatusCode)
			resp, _ = p.post("at/user.notes", url.Values{"do": {"delete"}})
			assert.Equal(t, 403, resp.StatusCode, "without the token")

			resp, _ = p.post("logout", url.Values{"csrf": {csrf}})
			assert.Equal(t, "/scripter/login", resp.Request.URL.Path)
			resp, _ = p.get("at/user")
			assert.Equal(t, "/scripter/login", resp.Request.URL.Path)
		})
	}
}
