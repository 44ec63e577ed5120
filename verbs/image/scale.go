package image

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"

	"golang.org/x/image/draw"

	"scripter/objectdb"
)

// A size is what a script wants.
type size struct {
	width, height  int // 0 = as the other one asks for
	cover, enlarge bool
}

// of returns the part of a picture that is kept, and the size that it gets.
func (s size) of(width, height int) (kept image.Rectangle, toWidth, toHeight int) {
	kept = image.Rect(0, 0, width, height)
	scale := 1.0
	across, down := float64(s.width)/float64(width), float64(s.height)/float64(height)
	switch {
	case s.width == 0 && s.height == 0:
	case s.height == 0:
		scale = across
	case s.width == 0:
		scale = down
	case s.cover:
		scale = max(across, down)
	default:
		scale = min(across, down)
	}
	if !s.enlarge {
		scale = min(scale, 1)
	}
	if s.cover { // the largest part with the wanted shape
		part := min(float64(width)/float64(s.width), float64(height)/float64(s.height))
		w, h := pixels(float64(s.width)*part, width), pixels(float64(s.height)*part, height)
		kept = image.Rect(0, 0, w, h).Add(image.Pt((width-w)/2, (height-h)/2))
		if s.enlarge || max(across, down) <= 1 {
			return kept, s.width, s.height // also where the part cannot have the shape in whole pixels
		}
	}
	return kept, pixels(float64(kept.Dx())*scale, maxSide), pixels(float64(kept.Dy())*scale, maxSide)
}

// pixels returns a number of pixels, from 1 to most.
func pixels(n float64, most int) int { return max(1, min(int(math.Round(n)), most)) }

// resized decodes the picture and returns it in the wanted size, as it is shown.
func (p *picture) resized(data string, want size, charge func(int)) (*image.RGBA, error) {
	kept, width, height := want.of(p.shown())
	m, err := p.decode(data, charge)
	if err != nil {
		return nil, err
	}
	if p.isTurned() { // what is shown lies in the stored picture with the sides exchanged
		width, height = height, width
	}
	kept = p.stored(kept).Add(m.Bounds().Min).Intersect(m.Bounds())
	if kept.Empty() { // the first picture of a GIF may be smaller than all of it
		kept = m.Bounds()
	}
	m, kept = reduced(m, kept, width, height, charge)
	made := image.NewRGBA(image.Rect(0, 0, width, height))
	charge(width * height / chargedPixels)
	draw.ApproxBiLinear.Scale(made, made.Bounds(), m, kept, draw.Src, nil)
	return turned(made, p.orientation), nil
}

// chargedPixels is how many pixels count as an instruction.
const chargedPixels = 4

// reduced returns a picture whose pixels are the averages of k x k pixels, with the largest k that leaves at
// least width x height. So each pixel of the picture counts in the end, however much smaller it gets. The
// picture is read in strips, because the colours of most kinds have to be converted first.
func reduced(m image.Image, from image.Rectangle, width, height int, charge func(int)) (image.Image, image.Rectangle) {
	k := min(from.Dx()/width, from.Dy()/height)
	if k < 2 {
		return m, from
	}
	made := image.NewRGBA(image.Rect(0, 0, from.Dx()/k, from.Dy()/k))
	across := made.Rect.Dx()
	strip := image.NewRGBA(image.Rect(0, 0, across*k, k))
	sums := make([]uint32, across*4)
	for y := range made.Rect.Dy() {
		charge(len(strip.Pix) / 4 / chargedPixels)
		draw.Draw(strip, strip.Rect, m, from.Min.Add(image.Pt(0, y*k)), draw.Src)
		clear(sums)
		for row := range k {
			line := strip.Pix[row*strip.Stride:][:across*k*4]
			for x := range across {
				s := sums[x*4:][:4]
				for box := line[x*k*4:][:k*4]; len(box) >= 4; box = box[4:] {
					s[0] += uint32(box[0])
					s[1] += uint32(box[1])
					s[2] += uint32(box[2])
					s[3] += uint32(box[3])
				}
			}
		}
		out := made.Pix[y*made.Stride:][:across*4]
		half, all := uint32(k*k/2), uint32(k*k)
		for i, sum := range sums {
			out[i] = uint8((sum + half) / all)
		}
	}
	return made, made.Rect
}

// stored returns where a part of the picture as it is shown lies in the picture as it is stored.
func (p *picture) stored(r image.Rectangle) image.Rectangle {
	a, b := p.storedPoint(r.Min.X, r.Min.Y), p.storedPoint(r.Max.X-1, r.Max.Y-1)
	return image.Rect(min(a.X, b.X), min(a.Y, b.Y), max(a.X, b.X)+1, max(a.Y, b.Y)+1)
}

func (p *picture) storedPoint(x, y int) image.Point {
	return place(p.orientation, x, y, p.width, p.height)
}

// place returns the pixel of a stored picture that is shown at x, y.
func place(orientation, x, y, width, height int) image.Point {
	switch orientation {
	case 2:
		return image.Pt(width-1-x, y)
	case 3:
		return image.Pt(width-1-x, height-1-y)
	case 4:
		return image.Pt(x, height-1-y)
	case 5:
		return image.Pt(y, x)
	case 6:
		return image.Pt(y, height-1-x)
	case 7:
		return image.Pt(width-1-y, height-1-x)
	case 8:
		return image.Pt(width-1-y, x)
	}
	return image.Pt(x, y)
}

// turned returns a picture as its orientation says that it is shown.
func turned(m *image.RGBA, orientation int) *image.RGBA {
	if orientation == 1 {
		return m
	}
	width, height := m.Rect.Dx(), m.Rect.Dy()
	made := image.NewRGBA(m.Rect)
	if orientation >= 5 {
		made = image.NewRGBA(image.Rect(0, 0, height, width))
	}
	for y := range made.Rect.Dy() {
		for x := range made.Rect.Dx() {
			from := place(orientation, x, y, width, height)
			copy(made.Pix[made.PixOffset(x, y):][:4], m.Pix[m.PixOffset(from.X, from.Y):][:4])
		}
	}
	return made
}

// encode returns a picture as a binary. A JPEG is opaque: what was transparent becomes white.
func encode(m *image.RGBA, kind string, quality int, charge func(int)) (objectdb.Binary, error) {
	charge(len(m.Pix) / 4 / chargedPixels)
	var out bytes.Buffer
	var err error
	if kind == jpegType {
		if !m.Opaque() {
			white := image.NewRGBA(m.Rect)
			draw.Draw(white, white.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
			draw.Draw(white, white.Rect, m, m.Rect.Min, draw.Over)
			m = white
		}
		err = jpeg.Encode(&out, m, &jpeg.Options{Quality: quality})
	} else {
		err = png.Encode(&out, m)
	}
	if err != nil {
		return objectdb.Binary{}, fmt.Errorf("write the picture: %w", err)
	}
	return objectdb.Binary{Type: kind, Data: out.String()}, nil
}
