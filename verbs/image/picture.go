package image

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"golang.org/x/image/webp"
)

// The types of pictures that are made.
const (
	jpegType = "image/jpeg"
	pngType  = "image/png"
)

// A format is a form of pictures that can be read.
type format struct {
	media  string
	begins string
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

var formats = []*format{
	{jpegType, "\xff\xd8\xff", jpeg.DecodeConfig, jpeg.Decode},
	{pngType, "\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode},
	{"image/gif", "GIF8", gif.DecodeConfig, gif.Decode},
	{"image/webp", "RIFF", webp.DecodeConfig, webp.Decode},
}

// A picture is what the head of a picture says.
type picture struct {
	format        *format
	width, height int // as stored
	orientation   int // of EXIF: 1 to 8
	memory        int // bytes for each pixel while it is decoded
}

var errNone = errors.New("this is no JPEG, PNG, GIF or WebP picture")

// look reads the head of a picture.
func look(data string) (*picture, error) {
	for _, f := range formats {
		if !strings.HasPrefix(data, f.begins) || f.begins == "RIFF" && (len(data) < 12 || data[8:12] != "WEBP") {
			continue
		}
		c, err := f.config(strings.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("the picture is broken: %w", err)
		}
		if c.Width < 1 || c.Height < 1 {
			return nil, fmt.Errorf("the picture is broken: it is %d x %d pixels large", c.Width, c.Height)
		}
		p := &picture{format: f, width: c.Width, height: c.Height, orientation: 1, memory: pixelBytes(c.ColorModel)}
		switch f.media {
		case jpegType:
			h := jpegHead(data)
			p.orientation, p.memory = h.orientation, h.pixelBytes
		case pngType:
			p.memory += p.memory / 2 // the passes of one that is interlaced
		}
		return p, nil
	}
	return nil, errNone
}

// pixelBytes returns the bytes that a decoder needs for each pixel.
func pixelBytes(m color.Model) int {
	switch m {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	if _, paletted := m.(color.Palette); paletted {
		return 1
	}
	return 4
}

// isTurned reports whether width and height are exchanged when the picture is shown.
func (p *picture) isTurned() bool { return p.orientation >= 5 }

// shown returns the size of the picture as it is shown.
func (p *picture) shown() (width, height int) {
	if p.isTurned() {
		return p.height, p.width
	}
	return p.width, p.height
}

// checkMemory returns an error if the picture, and the one that is made of it, need more memory than a limit,
// before anything is decoded: a file of a few bytes may say that it has 10^9 pixels.
func (p *picture) checkMemory(want size, limit int64) error {
	_, width, height := want.of(p.shown())
	need := int64(p.width)*int64(p.height)*int64(p.memory) + int64(width)*int64(height)*4*outBuffers
	if need > limit {
		return fmt.Errorf("the picture of %d x %d pixels needs %d MB of memory, and maxMemory is %d MB",
			p.width, p.height, need>>20+1, limit>>20)
	}
	return nil
}

// outBuffers is how many pictures of the size that is made are in memory at once: reduced to less than twice
// the size, scaled, turned, encoded.
const outBuffers = 6

// outType returns the type of the picture that is made, if the script has named none.
func (p *picture) outType(kind string, made *image.RGBA) string {
	switch {
	case kind != "":
		return kind
	case p.format.media == jpegType || p.format.media == pngType:
		return p.format.media
	case made.Opaque() && p.format.media == "image/webp":
		return jpegType
	}
	return pngType
}

// A chargedReader counts what a decoder reads, so that one that takes long is stopped.
type chargedReader struct {
	from   *strings.Reader
	charge func(int)
}

func (r *chargedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.charge(n + 1)
	return n, err
}

func (p *picture) decode(data string, charge func(int)) (image.Image, error) {
	m, err := p.format.decode(&chargedReader{strings.NewReader(data), charge})
	if err != nil {
		return nil, fmt.Errorf("the picture is broken: %w", err)
	}
	return m, nil
}
