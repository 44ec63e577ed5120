// Package image has the verbs that look at pictures and make smaller ones: JPEG, PNG, GIF and WebP.
package image

import (
	"scripter/objectdb"
	"scripter/script"
)

// Verbs are the verbs of the group.
var Verbs = []script.Verb{
	{
		Name:   "image.info",
		Doc:    "What a picture is, from its first bytes: JPEG, PNG, GIF or WebP. It is not decoded.",
		Params: []script.Param{script.Arg("picture", "binary", "or its bytes as a string, or a file of params.files")},
		Results: script.Returns("table",
			"width, height, type and orientation: the size is that of the picture as it is shown; orientation, 1 to 8, is that of its EXIF data, which a photo "+
				"has that was taken with the camera turned"),
		Errors: "bytes that are none of these pictures",
		Example: `local dot = base64.decode ("R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==")
local p = image.info (dot)
return p.width .. " x " .. p.height .. " " .. p.type`,
		Gives: "1 x 1 image/gif",
		Func:  info,
	},
	{
		Name: "image.resize",
		Doc: "The picture as a binary, turned as its EXIF data says, at most as large as width and height, and without its " +
			"metadata: place, time and camera are gone. Of an animated GIF it is the first picture.",
		Params: []script.Param{
			script.Arg("picture", "binary", "or its bytes as a string, or a file of params.files"),
			script.Arg("options", "table", `width, height: the largest size in pixels, one of them is enough; `+
				`fit: "contain", supplied, keeps all of the picture, "cover" fills width and height and cuts off the rest; `+
				`enlarge: true makes small pictures larger; type: "image/jpeg" or "image/png", supplied that of the picture, `+
				`PNG for a GIF and for a WebP that is transparent; quality: of a JPEG, 1 to 100, supplied 82`),
		},
		Results: script.Returns("any", "a binary"),
		Errors: "bytes that are none of these pictures or are broken; a picture that needs more memory than " +
			"maxMemory; an option that is none",
		Example: `local dot = base64.decode ("R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==")
local large = image.resize (dot, {width = 20, enlarge = true, type = "image/jpeg"})
return image.info (large).height .. " " .. large.type`,
		Gives: "20 image/jpeg",
		Func:  resize,
	},
}

// A file has bytes that can be read, as those of params.files have.
type file interface{ Bytes() (string, error) }

// bytesOf returns the bytes of argument 1.
func bytesOf(v *script.Call) (string, error) {
	switch value := v.Value(1).(type) {
	case objectdb.Binary:
		return value.Data, nil
	case string:
		return value, nil
	case *script.Table:
		if f, ok := value.Cells().(file); ok {
			return f.Bytes()
		}
	}
	v.Bad(1, "binary, string or file of params.files expected")
	return "", nil
}

func info(v *script.Call) error {
	data, err := bytesOf(v)
	if err != nil {
		return err
	}
	p, err := look(data)
	if err != nil {
		return err
	}
	t := script.NewTable()
	width, height := p.shown()
	t.Set("width", float64(width))
	t.Set("height", float64(height))
	t.Set("type", p.format.media)
	t.Set("orientation", float64(p.orientation))
	v.Return(t)
	return nil
}

const (
	maxSide        = 16384 // pixels of a side of a picture that is made
	defaultQuality = 82
)

func resize(v *script.Call) error {
	data, err := bytesOf(v)
	if err != nil {
		return err
	}
	o := v.Options(2, "width", "height", "fit", "enlarge", "type", "quality")
	want := size{
		width: o.Int("width", 0, 1, maxSide), height: o.Int("height", 0, 1, maxSide),
		cover: oneOf(v, "fit", o.String("fit", "contain"), "contain", "cover") == "cover", enlarge: o.Bool("enlarge", false),
	}
	kind := o.String("type", "")
	if kind != "" {
		oneOf(v, "type", kind, jpegType, pngType)
	}
	quality := o.Int("quality", defaultQuality, 1, 100)
	if want.cover && (want.width == 0 || want.height == 0) {
		v.Bad(2, `fit = "cover" needs width and height`)
	}
	p, err := look(data)
	if err != nil {
		return err
	}
	if err := p.checkMemory(want, v.Thread().MemoryLimit()); err != nil {
		return err
	}
	small, err := p.resized(data, want, v.Charge)
	if err != nil {
		return err
	}
	b, err := encode(small, p.outType(kind, small), quality, v.Charge)
	if err != nil {
		return err
	}
	v.Return(b)
	return nil
}

// oneOf returns the value of an option, which must be one of these.
func oneOf(v *script.Call, name, value, first, second string) string {
	if value != first && value != second {
		v.Bad(2, "%s is %q or %q, not %.40q", name, first, second, value)
	}
	return value
}
