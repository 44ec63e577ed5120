package image

import (
	"encoding/binary"
	"strings"
)

// A head is what the segments before the data of a JPEG picture say.
type head struct {
	orientation int // 1 to 8
	pixelBytes  int // that a decoder needs
}

// jpegHead reads the segments of a JPEG picture up to its data. It takes the usual values for what it cannot read.
func jpegHead(data string) head {
	h := head{orientation: 1, pixelBytes: 4}
	rest := data[2:]
	for len(rest) >= 4 && rest[0] == 0xff {
		marker := rest[1]
		if marker == 0xff { // filling
			rest = rest[1:]
			continue
		}
		size := int(rest[2])<<8 | int(rest[3])
		if size < 2 || len(rest) < 2+size || marker == 0xda {
			break
		}
		segment := rest[4 : 2+size]
		switch {
		case marker == 0xe1 && strings.HasPrefix(segment, "Exif\x00\x00"):
			h.orientation = exifOrientation(segment[6:])
		case marker == 0xc0 || marker == 0xc1 || marker == 0xc2:
			h.pixelBytes = sampleBytes(segment, marker == 0xc2)
		}
		rest = rest[2+size:]
	}
	return h
}

// sampleBytes returns the bytes that a decoder needs for each pixel, rounded up, by the components of a frame:
// a byte for each sample, and for a progressive picture four more.
func sampleBytes(frame string, progressive bool) int {
	if len(frame) < 6 || len(frame) < 6+3*int(frame[5]) {
		return 4
	}
	sum, most := 0, 1
	for i := range int(frame[5]) {
		factors := frame[6+3*i+1]
		sum += int(factors>>4) * int(factors&15)
		most = max(most, int(factors>>4)*int(factors&15))
	}
	if progressive {
		sum *= 5
	}
	return max(1, (sum+most-1)/most)
}

// exifOrientation returns the orientation in EXIF data (a TIFF directory), 1 if there is none.
func exifOrientation(tiff string) int {
	const tag, maxEntries = 0x0112, 512
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder
	switch tiff[:2] {
	case "II":
		order = binary.LittleEndian
	case "MM":
		order = binary.BigEndian
	default:
		return 1
	}
	b := []byte(tiff)
	at := uint64(order.Uint32(b[4:]))
	if at+2 > uint64(len(b)) {
		return 1
	}
	entries := min(int(order.Uint16(b[at:])), maxEntries)
	for i := range entries {
		entry := at + 2 + uint64(i)*12
		if entry+12 > uint64(len(b)) {
			break
		}
		if order.Uint16(b[entry:]) == tag {
			if o := int(order.Uint16(b[entry+8:])); 1 <= o && o <= 8 {
				return o
			}
			break
		}
	}
	return 1
}
