package gateway

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"scripter/objectdb"
)

func TestPasswords(t *testing.T) {
	ctx := context.Background()
	one, err := makeHash(ctx, "sesame")
	require.NoError(t, err)
	two, err := makeHash(ctx, "sesame")
	require.NoError(t, err)
	assert.NotEqual(t, one, two, "each has a salt of its own")
	assert.NotContains(t, one, "sesame")
	for _, c := range []struct {
		hash, password string
		want           bool
	}{
		{one, "sesame", true}, {two, "sesame", true}, {one, "Sesame", false}, {one, "", false}, {"", "sesame", false}, {"", "", false},
		// Of another program, with another cost (RFC 9106 has the function, the PHC string format the text).
		{"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", "password", true},
		{"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", "passwort", false},
	} {
		got, err := checkPassword(ctx, c.hash, c.password)
		require.NoError(t, err, c.hash)
		assert.Equal(t, c.want, got, "%s %s", c.hash, c.password)
	}
	longest, err := makeHash(ctx, strings.Repeat("x", maxPassword))
	require.NoError(t, err)
	for n, want := range map[int]bool{maxPassword: true, maxPassword + 1: false, 1 << 20: false} {
		ok, err := checkPassword(ctx, longest, strings.Repeat("x", n))
		require.NoError(t, err, "nobody has a longer password")
		assert.Equal(t, want, ok, n)
	}
	_, err = makeHash(ctx, strings.Repeat("x", maxPassword+1))
	assert.ErrorContains(t, err, "more than 1024 bytes")
}

// Specification: 5.1
func TestPasswordHashes(t *testing.T) {
	// No turn to hash anything comes: what is refused is refused before.
	hashing <- struct{}{}
	hashing <- struct{}{}
	defer func() { <-hashing; <-hashing }()
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := checkPassword(gone, nobody, "x")
	require.ErrorIs(t, err, context.Canceled)
	for _, bad := range []string{
		"sesame", "$argon2id$", "$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=16$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=256,t=2,p=1$$", "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$AA", "$argon2id$v=19$m=256,t=2,p=1 $c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=256,t=0,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA", "$argon2id$v=19$m=9999999,t=2,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=256,t=99,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA", "$argon2id$v=19$m=-1,t=1,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
	} {
		_, err := checkPassword(gone, bad, "x")
		assert.Error(t, err, bad)
		assert.NotErrorIs(t, err, context.Canceled, bad)
	}
}

// TestPasswordsWait: two at a time; who waits too long, or is gone, is told.
func TestPasswordsWait(t *testing.T) {
	hashing <- struct{}{}
	hashing <- struct{}{}
	defer func() { <-hashing; <-hashing }()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := checkPassword(ctx, nobody, "x")
	assert.ErrorIs(t, err, context.Canceled)
	s := newSite(t)
	s.script("x", `return tostring (httpd.validateUser ("Ada", "sesame"))`)
	resp := s.ask("/x.fcgi", nil)
	assert.Equal(t, 503, resp.Status)
	assert.NotEmpty(t, resp.Get("Retry-After"))
}

// FuzzParseHash: any text is read or refused, and none asks for more than the
// largest cost.
func FuzzParseHash(f *testing.F) {
	f.Add(nobody)
	f.Add("$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4")
	f.Fuzz(func(t *testing.T, text string) {
		cost, salt, hash, err := parseHash(text)
		if err != nil {
			return
		}
		assert.LessOrEqual(t, cost.memory, maxPasswordCost.memory)
		assert.LessOrEqual(t, cost.time, maxPasswordCost.time)
		assert.GreaterOrEqual(t, len(salt), 8)
		assert.GreaterOrEqual(t, len(hash), 16)
	})
}

// TestUsers: the verbs of the glue, by realm; what is kept tells no password.
//
// Specification: 2.3.9, 5.1
func TestUsers(t *testing.T) {
	s := newSite(t)
	run := func(expression string) string {
		t.Helper()
		s.script("u", `local ok, r = pcall (function () return `+expression+` end) return {body = tostring (r)}`)
		return s.ask("/u.fcgi", nil).Body
	}
	run(`httpd.addUser ("Ada", "sesame")`)
	run(`httpd.addUser ("Ada", "other", "Members")`)
	run(`httpd.addUser ("user.webserver", "x", "a.b")`)
	assert.Contains(t, run(`httpd.addUser ("ada", "sesame")`), "already")
	assert.Contains(t, run(`httpd.addUser ("a:b", "sesame")`), "without colon")
	assert.Contains(t, run(`httpd.addUser ("Bob", "")`), "wants a password")
	for expression, want := range map[string]string{
		`httpd.validateUser ("Ada", "sesame")`:              "true",
		`httpd.validateUser ("Ada", "Sesame")`:              "false",
		`httpd.validateUser ("Ada", "other", "Members")`:    "true",
		`httpd.validateUser ("Ada", "sesame", "Members")`:   "false",
		`httpd.validateUser ("Ada", "sesame", "Nowhere")`:   "false",
		`httpd.validateUser ("Bob", "sesame")`:              "false",
		`httpd.validateUser ("", "")`:                       "false",
		`httpd.validateUser (nil, nil)`:                     "false",
		`httpd.validateUser ("user.webserver", "x", "a.b")`: "true",
		`odb.size (user.webserver.users)`:                   "3",
		`(httpd.getRealms ():gsub ("\n", " "))`:             "a.b default Members",
	} {
		assert.Equal(t, want, run(expression), expression)
	}
	assert.Equal(t, "nil", run(`httpd.deleteUser ("user.webserver", "a.b")`))
	assert.Contains(t, run(`httpd.deleteUser ("Bob")`), "no user Bob")
	assert.Equal(t, "nil", run(`httpd.deleteUser ("Ada", "Members")`))
	assert.Equal(t, "default", run(`httpd.getRealms ()`), "a realm goes with its last user")
	kept := s.get("user.webserver.users.default.Ada")
	assert.Regexp(t, `^\$argon2id\$v=19\$m=19456,t=2,p=1\$`, string(kept.(objectdb.String)))
}

func BenchmarkCheckPassword(b *testing.B) {
	hash, err := makeHash(context.Background(), "sesame")
	require.NoError(b, err)
	for b.Loop() {
		if ok, err := checkPassword(context.Background(), hash, "sesame"); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
