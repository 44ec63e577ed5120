package objectfiles

import (
	"archive/tar"
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOtherFormats(t *testing.T) {
	macBinary := make([]byte, 256)
	macBinary[1] = 8
	copy(macBinary[2:], "glue.sit")
	copy(macBinary[65:], "SIT!SIT!")
	var plainTar bytes.Buffer
	w := tar.NewWriter(&plainTar)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "a", Typeflag: tar.TypeReg}))
	require.NoError(t, w.Close())
	for want, data := range map[string]string{
		"it is a MacBinary file (such as a .sit.bin); an archive is a zip or a tar.gz file": string(macBinary),
		"it is a StuffIt archive (.sit)":                                 "SIT!\x00\x01\x00\x00",
		"it is a StuffIt archive":                                        "StuffIt (c)1997-2001 Aladdin",
		"it is a BinHex file":                                            "(This file must be converted with BinHex 4.0)\n:",
		"it is a tar file that is not packed with gzip":                  plainTar.String(),
		"packed in another way (bzip2":                                   "BZh91AY",
		"it is something else; an archive is a zip or a tar.gz file":     "<html>404</html>",
		"archive is refused: it is something else; an archive is a zip ": "",
		"archive is refused: it ends too early":                          "\x1f\x8b\x08",
		"archive is refused: ":                                           "PK\x03\x04",
	} {
		requireRefused(t, []byte(data), ImportLimits{}, want)
	}
}

func TestArchiveFormatOf(t *testing.T) {
	for name, want := range map[string]ArchiveFormat{
		"a.zip": Zip, "A.ZIP": Zip, "a.tar.gz": TarGzip, "a.TGZ": TarGzip, "a": 0, "a.gz": 0, "zip": 0, "a.zip/b": 0,
	} {
		assert.Equal(t, want, ArchiveFormatOf(name), name)
	}
}
