package recipes

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/internal/browsertest"
	"scripter/internal/corpus"
	"scripter/internal/mailtest"
	"scripter/internal/servertest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	browsertest.Close()
	os.Exit(code)
}

const patience = time.Minute

// site is a site that has recipes and nothing else of its own, behind a web server.
type site struct {
	*testing.T
	*corpus.Site
	url    string
	daemon bool // an agent runs by itself
	client *http.Client
}

// everywhere runs a test of recipes behind nginx with FastCGI and behind Apache with CGI.
func everywhere(t *testing.T, conf string, recipes []string, test func(s *site)) {
	for _, name := range []string{"nginx-fastcgi", "apache-cgi"} {
		t.Run(name, func(t *testing.T) {
			setUp := servertest.Named(t, name)
			setUp.Broken, setUp.Routes = true, true // it has no script for WaitReady
			s := &site{T: t, Site: corpus.NewEmptySite(t), daemon: name == "nginx-fastcgi"}
			s.Listed = conf
			require.NoError(t, os.WriteFile(s.Program("scripter.conf"), []byte("root: "+s.Root+"\n"+conf), 0o644))
			for _, recipe := range recipes {
				s.Scripter(t, "import", recipe)
			}
			assert.Contains(t, s.Scripter(t, "lint"), "nothing found")
			corpus.GiveToServer(t, s.Dir)
			s.url = "http://" + setUp.Start(t, s.Site).Addr
			jar, err := cookiejar.New(nil)
			require.NoError(t, err)
			s.client = &http.Client{Jar: jar, Timeout: patience}
			require.Eventually(t, func() bool {
				r, err := http.Get(s.url + "/samples.tellTime.fcgi")
				if err != nil {
					return false
				}
				r.Body.Close()
				return r.StatusCode == 200
			}, patience, 20*time.Millisecond)
			test(s)
		})
	}
}

// do sends a request and returns the status and the body.
func (s *site) do(method, path, kind, body string, header ...string) (int, string) {
	s.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	require.NoError(s, err)
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := s.client.Do(r)
	require.NoError(s, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(s, err)
	return resp.StatusCode, string(text)
}

// agent lets the agent do what waits, where none runs.
func (s *site) agent() {
	s.Helper()
	if !s.daemon {
		out, err := exec.Command(s.Program("scripter"), "--root", s.Root, "agent", "--once").CombinedOutput()
		require.NoError(s, err, "%s", out)
		corpus.GiveToServer(s, s.Dir)
	}
}

// eval evaluates Lua in the root.
func (s *site) eval(source string) string {
	s.Helper()
	out := s.Scripter(s.T, "eval", source)
	corpus.GiveToServer(s, s.Dir)
	return strings.TrimSpace(out)
}

func TestGuestbook(t *testing.T) {
	everywhere(t, "", []string{"guestbook"}, func(s *site) {
		b := browsertest.NewTab(s.T, s.url)
		b.Open("/guestbook")
		b.See("Be the first to sign.")
		b.Type("Name", "Ada")
		b.Click("Sign")
		b.See("message must be filled in")
		assert.Equal(s, "Ada", b.Value("Name"))
		b.Type("Message", "Tea & <b>cake</b>")
		b.Click("Sign")
		b.See("Tea & <b>cake</b>")
		b.NotSee("must be filled in")
	})
}

func TestBlog(t *testing.T) {
	everywhere(t, "", []string{"blog"}, func(s *site) {
		cmd := exec.Command(s.Program("scripter"), "--root", s.Root, "users", "add", "ada")
		cmd.Stdin = strings.NewReader("correct horse battery\n")
		out, err := cmd.CombinedOutput()
		require.NoError(s, err, "%s", out)
		s.Scripter(s.T, "users", "roles", "ada", "editor")
		corpus.GiveToServer(s, s.Dir)

		b := browsertest.NewTab(s.T, s.url)
		b.Open("/blog/new")
		b.See("Log in")
		b.Type("Name", "ada")
		b.Type("Password", "a guess")
		b.ClickRole("button", "Log in")
		b.See("the name or the password is wrong")
		b.Type("Name", "ada")
		b.Type("Password", "correct horse battery")
		b.ClickRole("button", "Log in")
		b.See("Welcome, ada.")
		b.Type("Title", "Tea <time>")
		b.Type("Text", "It is *four*. <script>alert (1)</script>")
		b.Click("Publish")
		b.See("It is four.")
		b.See("By ada")
		b.ClickRole("link", "Blog")
		b.See("Tea <time>")
		b.ClickRole("button", "Log out")
		b.Has("link", "Log in")
		b.HasNot("link", "Write")
		status, _ := s.do("POST", "/blog/new", "application/x-www-form-urlencoded", "title=x&text=y")
		assert.Equal(s, 401, status)
	})
}

func TestGallery(t *testing.T) {
	everywhere(t, "", []string{"gallery"}, func(s *site) {
		var picture bytes.Buffer
		require.NoError(s, png.Encode(&picture, image.NewNRGBA(image.Rect(0, 0, 900, 600))))
		file := filepath.Join(s.TempDir(), "lake.png")
		require.NoError(s, os.WriteFile(file, picture.Bytes(), 0o644))
		b := browsertest.NewTab(s.T, s.url)
		b.Open("/gallery")
		b.Type("Title", "A lake")
		b.Upload("Picture", file)
		b.Click("Upload")
		b.Has("link", "A lake")
		_, page := s.do("GET", "/gallery", "", "")
		for size, want := range map[string]image.Point{"small": {240, 240}, "large": {900, 600}} {
			at := regexp.MustCompile(`"(/gallery/\w+/` + size + `)"`).FindStringSubmatch(page)
			require.NotNil(s, at, page)
			status, data := s.do("GET", at[1], "", "")
			require.Equal(s, 200, status)
			info, kind, err := image.DecodeConfig(strings.NewReader(data))
			require.NoError(s, err)
			assert.Equal(s, want, image.Pt(info.Width, info.Height))
			assert.Equal(s, "png", kind)
		}
		status, _ := s.do("GET", "/gallery/nothing/small", "", "")
		assert.Equal(s, 404, status)

		// What is no picture is refused, whatever its name says.
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		part, err := w.CreateFormFile("picture", "evil.png")
		require.NoError(s, err)
		fmt.Fprint(part, "<script>alert (1)</script>")
		require.NoError(s, w.Close())
		_, page = s.do("POST", "/gallery", w.FormDataContentType(), form.String())
		assert.Contains(s, page, "Please choose a picture")
	})
}

func TestContact(t *testing.T) {
	server := mailtest.Start(t)
	everywhere(t, fmt.Sprintf("mail: smtp://127.0.0.1:%d from=site@example.com tls=off\n", server.Port), []string{"contact"},
		func(s *site) {
			before := len(server.Mails())
			b := browsertest.NewTab(s.T, s.url)
			b.Open("/contact")
			b.Type("Your address", "grace@example.com")
			b.Type("Message", "When do you open?")
			b.Click("Send")
			b.See("We will answer soon.")
			s.agent()
			require.Eventually(s, func() bool { return len(server.Mails()) == before+2 }, patience, 20*time.Millisecond)
			all := mails(server)
			assert.Contains(s, all, "owner@example.com")
			assert.Contains(s, all, "When do you open?")
			_, page := s.do("POST", "/contact", "application/x-www-form-urlencoded", url.Values{
				"email": {"x@example.com\r\nBcc: all@example.com"}, "message": {"spam"}}.Encode())
			assert.Contains(s, page, "email ")
			assert.Equal(s, "1", s.eval("records.count (user.contact)"))
		})
}

func TestAPI(t *testing.T) {
	everywhere(t, "", []string{"api"}, func(s *site) {
		call := func(method, path, body string, want int) (v map[string]any) {
			s.Helper()
			kind := ""
			if body != "" {
				kind = "application/json"
			}
			status, text := s.do(method, path, kind, body)
			require.Equal(s, want, status, text)
			if text != "" {
				require.NoError(s, json.Unmarshal([]byte(text), &v), text)
			}
			return v
		}
		item := call("POST", "/api/items", `{"title": "Tea"}`, 201)
		at := "/api/items/" + item["key"].(string)
		assert.Equal(s, false, item["done"])
		assert.Equal(s, "must be filled in", call("POST", "/api/items", `{"title": " "}`, 422)["fields"].(map[string]any)["title"])
		call("POST", "/api/items", `{"title"`, 400)
		call("POST", "/api/items", `7`, 400)
		assert.Equal(s, true, call("PATCH", at, `{"done": true}`, 200)["done"])
		assert.Equal(s, "Tea", call("GET", at, "", 200)["title"])
		assert.Len(s, call("GET", "/api/items?done=false", "", 200)["items"], 0)
		assert.Len(s, call("GET", "/api/items?done=true", "", 200)["items"], 1)
		call("DELETE", at, "", 204)
		call("GET", at, "", 404)
		call("PUT", at, `{}`, 405)
	})
}

func TestWebhook(t *testing.T) {
	everywhere(t, "", []string{"webhook"}, func(s *site) {
		event := `{"id": "e1", "kind": "paid", "amount": 12.5}`
		sum := hmac.New(sha256.New, []byte("change this secret"))
		sum.Write([]byte(event))
		signature := "sha256=" + hex.EncodeToString(sum.Sum(nil))
		status, _ := s.do("POST", "/hooks/payments", "application/json", event, "X-Signature", "sha256=00")
		assert.Equal(s, 401, status)
		for range 3 { // a sender repeats an event that it got no answer for
			status, body := s.do("POST", "/hooks/payments", "application/json", event, "X-Signature", signature)
			assert.Equal(s, 204, status, body)
		}
		s.agent()
		require.Eventually(s, func() bool { return s.eval("user.webhook.total") == "12.5" }, patience, 50*time.Millisecond)
	})
}

func TestReport(t *testing.T) {
	server := mailtest.Start(t)
	everywhere(t, fmt.Sprintf("mail: smtp://127.0.0.1:%d from=site@example.com tls=off\n", server.Port), []string{"guestbook", "report"},
		func(s *site) {
			before := len(server.Mails())
			s.do("POST", "/guestbook", "application/x-www-form-urlencoded", "name=Ada&message=Hello")
			assert.Contains(s, s.Scripter(s.T, "schedule"), "suites.report.nightly")
			assert.Contains(s, s.Scripter(s.T, "schedule", "run", "report"), "1 new entries")
			corpus.GiveToServer(s, s.Dir)
			s.agent()
			require.Eventually(s, func() bool { return len(server.Mails()) == before+1 }, patience, 20*time.Millisecond)
			assert.Contains(s, mails(server), "- Ada: Hello")
			assert.Contains(s, s.Scripter(s.T, "schedule", "run", "report"), "0 new entries")
		})
}

// mails returns the recipients and the texts of all mails.
func mails(s *mailtest.Server) string {
	var b strings.Builder
	for _, m := range s.Mails() {
		fmt.Fprintf(&b, "To %s: %s\n%s\n", m.To, m.Header.Get("Subject"), m.Body)
	}
	return b.String()
}

func TestSearch(t *testing.T) {
	everywhere(t, "", []string{"guestbook", "search"}, func(s *site) {
		for _, message := range []string{"Long roads <b>", "A short road", "Tea"} {
			s.do("POST", "/guestbook", "application/x-www-form-urlencoded", url.Values{"name": {"Ada"}, "message": {message}}.Encode())
		}
		b := browsertest.NewTab(s.T, s.url)
		b.Open("/search")
		b.Type("Words", "road*")
		b.Click("Search")
		b.See("2 found")
		b.See("Long roads <b>")
		_, page := s.do("GET", "/search?q=roads", "", "")
		assert.Contains(s, page, "Long <mark>roads</mark> &lt;b&gt;")
		_, page = s.do("GET", "/search?q=%22%3Cscript%3E", "", "")
		assert.Contains(s, page, "0 found")
	})
}

// TestLines compares the numbers of lines in README.md with the files.
func TestLines(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	folders, err := filepath.Glob("*/README.md")
	require.NoError(t, err)
	for _, file := range folders {
		recipe := filepath.Dir(file)
		lines := 0
		require.NoError(t, filepath.WalkDir(recipe, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "README.md" {
				return err
			}
			text, err := os.ReadFile(path)
			lines += strings.Count(strings.TrimSuffix(string(text), "\n"), "\n") + 1
			return err
		}))
		assert.Contains(t, string(readme), fmt.Sprintf("| [%s](%[1]s/README.md) | %d |", recipe, lines))
	}
	php, err := os.ReadFile("php/guestbook.php")
	require.NoError(t, err)
	assert.Contains(t, string(readme), fmt.Sprintf("has %d lines", strings.Count(string(php), "\n")))
}
