package fcgitest

import "encoding/binary"

// Record types (FastCGI Specification 1.0, section 8).
const (
	beginRequest = 1
	endRequest   = 3
	paramsStream = 4
	stdin        = 5
	stdout       = 6
	stderr       = 7
)

const (
	headerLen  = 8
	maxContent = 65535
	clientID   = 1 // the request id of all requests
)

// appendRecord appends one record (section 3.3).
func appendRecord(dst []byte, typ byte, content []byte) []byte {
	dst = append(dst, 1, typ, 0, clientID)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(content)))
	dst = append(dst, 0, 0)
	return append(dst, content...)
}

// appendParams appends vars as a stream of FCGI_PARAMS records (section 5.2).
func appendParams(dst []byte, vars map[string]string) []byte {
	var block []byte
	for name, value := range vars {
		block = appendLength(block, len(name))
		block = appendLength(block, len(value))
		block = append(block, name...)
		block = append(block, value...)
	}
	for len(block) > 0 {
		n := min(len(block), maxContent)
		dst = appendRecord(dst, paramsStream, block[:n])
		block = block[n:]
	}
	return appendRecord(dst, paramsStream, nil)
}

// appendLength appends the length of a name or a value (section 3.4).
func appendLength(dst []byte, n int) []byte {
	if n < 0x80 {
		return append(dst, byte(n))
	}
	return binary.BigEndian.AppendUint32(dst, uint32(n)|1<<31)
}
