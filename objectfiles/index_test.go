package objectfiles

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzIndex(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"a.txt": {"kind": "outline"}, "b%_0": {"name": "b", "type": "x/y"}}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		x, err := DecodeIndex(content)
		if err != nil {
			return
		}
		_, err = DecodeIndex(x.Encode())
		require.NoError(t, err)
	})
}
