package site

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMailServerLines checks how mail lines are read, and that they have no passwords.
func TestMailServerLines(t *testing.T) {
	for line, want := range map[string]string{
		"smtp://localhost from=*@example.com":     "smtp://localhost:25 from=*@example.com tls=off",
		"smtp://127.0.0.1:2525 from=a@b.c tls=on": "smtp://127.0.0.1:2525 from=a@b.c tls=on",
		"smtp://shop@mail.example.com from=A@b.c,*@d.e from=*@x.y password-file=/etc/p": "smtp://shop@mail.example.com:587 " +
			"from=a@b.c,*@d.e,*@x.y password-file=/etc/p tls=on",
		"smtps://shop%40example.com@[::1] from=*@example.com ca-file=/etc/ca": "smtps://shop%40example.com@[::1]:465 " +
			"from=*@example.com ca-file=/etc/ca tls=off",
		"smtp://mail.example.com  from=*@example.com  tls=off": "smtp://mail.example.com:25 from=*@example.com tls=off",
	} {
		m, err := ParseMailServer(line)
		require.NoError(t, err, line)
		assert.Equal(t, want, m.Line())
		again, err := ParseMailServer(m.Line())
		require.NoError(t, err)
		assert.Equal(t, m, again)
	}
	for line, why := range map[string]string{
		"":                                         "it is empty",
		"smtp://localhost":                         "it names no senders",
		"localhost:25 from=*@x.y":                  "smtp://",
		"http://localhost from=*@x.y":              "no mail server",
		"smtp://h/path from=*@x.y":                 "no mail server",
		"smtp:// from=*@x.y":                       "no host",
		"smtp://h:0 from=*@x.y":                    "no port",
		"smtp://h:99999 from=*@x.y":                "no port",
		"smtp://a:geheim@h from=*@x.y":             "it has the password",
		"smtp://h from=x":                          "neither an address",
		"smtp://h from=*":                          "neither an address",
		"smtp://h from=a@b.c,":                     "neither an address",
		"smtp://h from=*@x.y tls=maybe":            "neither on nor off",
		"smtp://h from=*@x.y password-file=secret": "not an absolute path",
		"smtp://h from=*@x.y password=geheim":      "is none of",
	} {
		_, err := ParseMailServer(line)
		require.ErrorContains(t, err, why, line)
		assert.NotContains(t, err.Error(), "geheim@")
	}
	_, err := ParseMailServer("smtp://a:geh%zzeim@h from=*@x.y")
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "zzeim")
}

// TestTrustsAnybody checks which servers need a certificate that counts.
func TestTrustsAnybody(t *testing.T) {
	for line, want := range map[string]bool{
		"smtp://localhost from=a@b.c": true, "smtp://u@127.0.0.1 from=a@b.c": true, "smtp://h from=a@b.c tls=off": true,
		"smtp://h from=a@b.c": false, "smtp://u@h from=a@b.c tls=off": false, "smtps://localhost from=a@b.c": false,
		"smtp://localhost from=a@b.c tls=on": false, "smtp://localhost from=a@b.c ca-file=/x": false,
	} {
		m, err := ParseMailServer(line)
		require.NoError(t, err)
		assert.Equal(t, want, m.TrustsAnybody(), line)
	}
}

// TestMailPassword checks where the password comes from.
func TestMailPassword(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	m := MailServer{Host: "h", Port: 587, User: "u"}
	t.Setenv(MailPassword, "")
	_, err := m.Password()
	require.ErrorContains(t, err, "there is no password for smtp://u@h:587")
	t.Setenv(MailPassword, "from the variable")
	p, err := m.Password()
	require.NoError(t, err)
	assert.Equal(t, "from the variable", p)
	m.PasswordFile = file
	_, err = m.Password()
	require.ErrorIs(t, err, os.ErrNotExist)
	for text, want := range map[string]string{"a b\n": "a b", "a b": "a b", "": "", "a\nb\n": ""} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		p, err := m.Password()
		assert.Equal(t, want, p)
		assert.Equal(t, want == "", err != nil)
	}
}

// TestMailServerFor checks which server gets the mails of a sender.
func TestMailServerFor(t *testing.T) {
	var r Reach
	_, err := r.MailServerFor("a@b.c")
	require.ErrorContains(t, err, "scripter.conf lists no mail server")
	require.NoError(t, r.Add(KeyMail, "smtp://one from=shop@example.com,*@example.org"))
	require.NoError(t, r.Add(KeyMail, "smtp://two from=*@example.com"))
	require.NoError(t, r.Add(KeyMail, "smtp://one from=shop@example.com,*@example.net"))
	for from, want := range map[string]string{
		"SHOP@example.com": "one", "ada@example.com": "two", "x@EXAMPLE.net": "one",
		"x@example.org": "", "x@sub.example.com": "", "x@notexample.com": "", "": "", "example.com": "",
	} {
		m, err := r.MailServerFor(from)
		assert.Equal(t, want, m.Host, from)
		assert.Equal(t, want == "", err != nil, from)
	}
	from, err := r.DefaultSender()
	require.NoError(t, err)
	assert.Equal(t, "shop@example.com", from)
	assert.Equal(t, []string{"--mail", "smtp://one:25 from=shop@example.com,*@example.net tls=on", "--mail",
		"smtp://two:25 from=*@example.com tls=on"}, r.Flags())
}

// FuzzParseMailServer checks that what is read can be written and read again.
func FuzzParseMailServer(f *testing.F) {
	f.Add("smtp://shop@mail.example.com from=A@b.c,*@d.e password-file=/etc/p tls=on")
	f.Add("smtps://a%40b@[::1]:465 from=*@x ca-file=/x")
	f.Fuzz(func(t *testing.T, line string) {
		m, err := ParseMailServer(line)
		if err != nil {
			return
		}
		again, err := ParseMailServer(m.Line())
		require.NoError(t, err, m.Line())
		require.Equal(t, m, again)
	})
}
