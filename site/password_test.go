package site

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPasswords(t *testing.T) {
	ctx, p := context.Background(), NewPasswords()
	one, err := p.Hash(ctx, "sesame")
	require.NoError(t, err)
	two, err := p.Hash(ctx, "sesame")
	require.NoError(t, err)
	assert.NotEqual(t, one, two, "each has a salt of its own")
	assert.NotContains(t, one, "sesame")
	for _, c := range []struct {
		hash, password string
		want           bool
	}{
		{one, "sesame", true}, {two, "sesame", true}, {one, "Sesame", false}, {one, "", false},
		{"", "sesame", false}, {"", "", false},
		// Of another program, with another cost (RFC 9106 has the function, the PHC string format the text).
		{"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", "password", true},
		{"$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4", "passwort", false},
	} {
		got, err := p.Check(ctx, c.hash, c.password)
		require.NoError(t, err, c.hash)
		assert.Equal(t, c.want, got, "%s %s", c.hash, c.password)
	}
	longest, err := p.Hash(ctx, strings.Repeat("x", maxPassword))
	require.NoError(t, err)
	for n, want := range map[int]bool{maxPassword: true, maxPassword + 1: false, 1 << 20: false} {
		ok, err := p.Check(ctx, longest, strings.Repeat("x", n))
		require.NoError(t, err, "nobody has a longer password")
		assert.Equal(t, want, ok, n)
	}
	_, err = p.Hash(ctx, strings.Repeat("x", maxPassword+1))
	assert.ErrorContains(t, err, "more than 1024 bytes")
}

// busyPasswords returns a Passwords whose slots are all in use.
func busyPasswords() *Passwords {
	p := NewPasswords()
	for range maxHashes {
		p.slots <- struct{}{}
	}
	return p
}

// Specification: 5.1
func TestPasswordHashes(t *testing.T) {
	p := busyPasswords() // invalid hashes are refused before a slot is free
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := p.Check(gone, nobody, "x")
	require.ErrorIs(t, err, context.Canceled)
	for _, bad := range []string{
		"sesame", "$argon2id$", "$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=16$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"$argon2id$v=19$m=256,t=2,p=1$$", "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$AA",
		"$argon2id$v=19$m=256,t=2,p=1 $c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=256,t=0,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=9999999,t=2,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=256,t=99,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=-1,t=1,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
	} {
		_, err := p.Check(gone, bad, "x")
		assert.Error(t, err, bad)
		assert.NotErrorIs(t, err, context.Canceled, bad)
	}
}

// TestPasswordsWait checks that two passwords are hashed at a time, and that a third one
// that waits too long gets an error.
func TestPasswordsWait(t *testing.T) {
	p := busyPasswords()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := p.Check(ctx, nobody, "x")
	assert.ErrorIs(t, err, context.Canceled)
	_, err = p.Check(context.Background(), nobody, "x")
	assert.ErrorIs(t, err, ErrManyPasswords)
}

// FuzzParseHash checks that no text that is accepted as a hash has a cost above the
// maximum.
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

func BenchmarkCheckPassword(b *testing.B) {
	p := NewPasswords()
	hash, err := p.Hash(context.Background(), "sesame")
	require.NoError(b, err)
	for b.Loop() {
		if ok, err := p.Check(context.Background(), hash, "sesame"); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
