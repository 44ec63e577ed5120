package fcgi

import "encoding/binary"

// Record types (section 8).
const (
	typeBegin        = 1
	typeAbort        = 2
	typeEnd          = 3
	typeParams       = 4
	typeStdin        = 5
	typeStdout       = 6
	typeStderr       = 7
	typeData         = 8
	typeGetValues    = 9
	typeValuesResult = 10
	typeUnknown      = 11
)

const (
	version = 1

	roleResponder = 1
	flagKeepConn  = 1

	statusComplete    = 0
	statusCantMPX     = 1
	statusOverloaded  = 2
	statusUnknownRole = 3

	headerLen  = 8
	bodyLen    = 8     // of BEGIN_REQUEST, END_REQUEST and UNKNOWN_TYPE
	maxContent = 65535 // bytes of content in one record
)

// header is the fixed part of a record (section 3.3).
type header struct {
	typ     uint8
	id      uint16
	length  int
	padding int
}

// parseHeader reads the first 8 bytes of b. The version is the caller's to check.
func parseHeader(b []byte) header {
	_ = b[headerLen-1]
	return header{
		typ:     b[1],
		id:      binary.BigEndian.Uint16(b[2:]),
		length:  int(binary.BigEndian.Uint16(b[4:])),
		padding: int(b[6]),
	}
}

// putHeader writes a header without padding into the first 8 bytes of b.
func putHeader(b []byte, typ uint8, id uint16, length int) {
	_ = b[headerLen-1]
	b[0], b[1] = version, typ
	binary.BigEndian.PutUint16(b[2:], id)
	binary.BigEndian.PutUint16(b[4:], uint16(length))
	b[6], b[7] = 0, 0
}

func appendHeader(dst []byte, typ uint8, id uint16, length int) []byte {
	return append(dst, version, typ, byte(id>>8), byte(id), byte(length>>8), byte(length), 0, 0)
}

// appendStream appends p as records of a stream; nothing when p is empty,
// because an empty record would end the stream.
func appendStream(dst []byte, typ uint8, id uint16, p []byte) []byte {
	for len(p) > 0 {
		n := min(len(p), maxContent)
		dst = appendHeader(dst, typ, id, n)
		dst = append(dst, p[:n]...)
		p = p[n:]
	}
	return dst
}

func appendEnd(dst []byte, id uint16, appStatus uint32, status uint8) []byte {
	dst = appendHeader(dst, typeEnd, id, bodyLen)
	dst = binary.BigEndian.AppendUint32(dst, appStatus)
	return append(dst, status, 0, 0, 0)
}

func appendUnknown(dst []byte, typ uint8) []byte {
	dst = appendHeader(dst, typeUnknown, 0, bodyLen)
	return append(dst, typ, 0, 0, 0, 0, 0, 0, 0)
}
