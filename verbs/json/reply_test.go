package json

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIsType(t *testing.T) {
	for media, want := range map[string]bool{
		"application/json": true, "application/problem+json": true, "application/ld+json": true,
		"text/json": false, "application/jsonp": false, "+json": false, "": false,
	} {
		assert.Equal(t, want, IsType(media), media)
	}
}

func TestProblem(t *testing.T) {
	assert.Equal(t, `{"title":"Not Found","status":404}`+"\n", Problem{Title: "Not Found", Status: 404}.Text())
}

// TestDecode checks that null is left out of objects and kept in arrays, and that work is counted.
func TestDecode(t *testing.T) {
	steps := 0
	v, err := Decode(`{"a": null, "b": [null, 1]}`, func(n int) { steps += n })
	require.NoError(t, err)
	assert.Equal(t, 5*valueCharge, steps)
	text, err := Encode(nil, v)
	require.NoError(t, err)
	assert.Equal(t, `{"b":[null,1]}`, string(text))
	_, err = Decode(`{"a": 1} x`, func(int) {})
	assert.ErrorContains(t, err, "at byte 9: ")
}
