package objectfiles

import (
	"crypto/sha256"
	"encoding/hex"
)

// fileSum is the checksum of a file's content.
type fileSum [sha256.Size]byte

func (s fileSum) String() string { return hex.EncodeToString(s[:]) }
