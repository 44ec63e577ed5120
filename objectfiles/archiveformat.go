package objectfiles

import (
	"bytes"
	"strings"
)

// ArchiveFormat is the format of the file of an archive. All hold the same.
type ArchiveFormat int

// The formats.
const (
	Zip ArchiveFormat = iota + 1
	TarGzip
)

// ArchiveFormatOf returns the format that the suffix of a file's name says, or 0.
func ArchiveFormatOf(name string) ArchiveFormat {
	name = strings.ToLower(name)
	switch {
	case strings.HasSuffix(name, ".zip"):
		return Zip
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		return TarGzip
	}
	return 0
}

// formatOfHead returns the format of a file that begins with head, or 0.
func formatOfHead(head []byte) ArchiveFormat {
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return Zip
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return TarGzip
	}
	return 0
}

// otherFormat says in words what a file in another format is, by its first bytes: people have
// archives of scripts in many.
func otherFormat(head []byte) string {
	has := func(at int, s string) bool { return len(head) >= at+len(s) && string(head[at:at+len(s)]) == s }
	switch {
	case len(head) >= 128 && head[0] == 0 && head[74] == 0 && head[82] == 0 && 1 <= head[1] && head[1] <= 63:
		return "a MacBinary file (such as a .sit.bin)"
	case has(0, "SIT!"), has(0, "StuffIt"):
		return "a StuffIt archive (.sit)"
	case bytes.Contains(head, []byte("(This file must be converted with BinHex")):
		return "a BinHex file (.hqx)"
	case has(257, "ustar"):
		return "a tar file that is not packed with gzip"
	case has(0, "BZh"), has(0, "\xfd7zXZ\x00"), has(0, "7z\xbc\xaf\x27\x1c"), has(0, "\x28\xb5\x2f\xfd"), has(0, "Rar!"):
		return "packed in another way (bzip2, xz, 7z, zstd or rar)"
	}
	return "something else"
}
