// Package qr has the verbs that draw QR codes.
package qr

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"

	"github.com/boombuler/barcode/qr"

	"scripter/objectdb"
	"scripter/script"
)

const options = `level: how much of the code may be damaged, "low" (7 %), "medium" (15 %, as supplied), ` +
	`"quartile" (25 %) or "high" (30 %); border: empty squares around it, 0 to 16, supplied 4`

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name: "qr.svg",
		Doc:  "A QR code with the text, as an SVG element for a page. A style sheet can give it any size.",
		Params: []script.Param{
			script.Arg("text", "string", "at most 2953 bytes; less for a higher level"),
			script.Opt("options", "table", "", options),
		},
		Results: script.Returns("string", ""),
		Errors:  "a text that is too long",
		Example: `qr.svg ("https://example.com/"):match ("^<svg")`,
		Gives:   "<svg",
		Page:    true,
		Func: func(v *script.Call) error {
			o := v.Options(2, "level", "border")
			code, err := encode(v, o)
			if err != nil {
				return err
			}
			v.ReturnText(svg(code, o.Int("border", 4, 0, 16)))
			return nil
		},
	},
	{
		Name: "qr.png",
		Doc:  "A QR code with the text, as a PNG picture.",
		Params: []script.Param{
			script.Arg("text", "string", "at most 2953 bytes; less for a higher level"),
			script.Opt("options", "table", "", options+"; scale: pixels of a square, 1 to 32, supplied 8"),
		},
		Results: script.Returns("binary", "of the type image/png: a script may return it as the response"),
		Errors:  "a text that is too long; more than 4096 pixels on a side",
		Example: `qr.png ("https://example.com/", {level = "high"}).type`,
		Gives:   "image/png",
		Func: func(v *script.Call) error {
			o := v.Options(2, "level", "border", "scale")
			code, err := encode(v, o)
			if err != nil {
				return err
			}
			border, scale := o.Int("border", 4, 0, 16), o.Int("scale", 8, 1, 32)
			size := (code.Bounds().Dx() + 2*border) * scale
			if size > maxSize {
				return fmt.Errorf("the picture would have %d pixels on a side, and %d are allowed: take a smaller scale",
					size, maxSize)
			}
			v.Charge(size * size / 8)
			var b bytes.Buffer
			if err := png.Encode(&b, picture(code, border, scale)); err != nil {
				return err
			}
			v.Return(objectdb.Binary{Type: "image/png", Data: b.String()})
			return nil
		},
	},
}

// levels are the levels of error correction by their names.
var levels = map[string]qr.ErrorCorrectionLevel{"low": qr.L, "medium": qr.M, "quartile": qr.Q, "high": qr.H}

// charge is what a code counts, in instructions: the largest takes some milliseconds.
const charge = 100_000

// maxSize bounds the pixels on a side of a picture.
const maxSize = 4096

// encode returns the squares of the code of the text that is argument 1, with the level that the options say.
func encode(v *script.Call, o script.Options) (image.Image, error) {
	text, name := v.String(1), o.String("level", "medium")
	level, ok := levels[name]
	if !ok {
		v.Bad(2, "level is low, medium, quartile or high, not %.40q", name)
	}
	v.Charge(charge)
	code, err := qr.Encode(text, level, qr.Auto)
	if err != nil { // there is no other reason
		return nil, fmt.Errorf("%d bytes do not fit into a QR code of the level %s", len(text), name)
	}
	return code, nil
}

// isDark reports whether a square is black.
func isDark(code image.Image, x, y int) bool {
	r, _, _, _ := code.At(x, y).RGBA()
	return r == 0
}

// svg draws the dark squares of each row as one line.
func svg(code image.Image, border int) string {
	n := code.Bounds().Dx()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" shape-rendering="crispEdges">`+
		`<rect width="100%%" height="100%%" fill="#fff"/><path d="`, n+2*border)
	for y := range n {
		for x := 0; x < n; x++ {
			from := x
			for x < n && isDark(code, x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%[3]dz", from+border, y+border, x-from)
			}
		}
	}
	b.WriteString(`" fill="#000"/></svg>`)
	return b.String()
}

// picture draws each square with so many pixels.
func picture(code image.Image, border, scale int) image.Image {
	n := code.Bounds().Dx()
	size := (n + 2*border) * scale
	p := image.NewPaletted(image.Rect(0, 0, size, size), color.Palette{color.White, color.Black})
	for y := range n * scale {
		for x := range n * scale {
			if isDark(code, x/scale, y/scale) {
				p.SetColorIndex(x+border*scale, y+border*scale, 1)
			}
		}
	}
	return p
}
