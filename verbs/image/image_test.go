package image

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// corners returns a picture with a colour in each quarter: red, green, blue and white, from left to right and from
// top to bottom.
func corners(width, height int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, quarter(x < width/2, y < height/2))
		}
	}
	return m
}

func quarter(left, top bool) color.RGBA {
	switch {
	case left && top:
		return color.RGBA{255, 0, 0, 255}
	case top:
		return color.RGBA{0, 255, 0, 255}
	case left:
		return color.RGBA{0, 0, 255, 255}
	}
	return color.RGBA{255, 255, 255, 255}
}

func jpegOf(t testing.TB, m image.Image, orientation int) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}))
	data := b.String()
	if orientation == 0 {
		return data
	}
	exif := "Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(orientation)) + "\x00\x00"
	size := len(exif) + 2
	return data[:2] + "\xff\xe1" + string([]byte{byte(size >> 8), byte(size)}) + exif + data[2:]
}

func pngOf(t testing.TB, m image.Image) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.String()
}

// make resizes a picture as the verb does.
func resizePicture(t testing.TB, data string, want size, kind string) image.Image {
	t.Helper()
	p, err := look(data)
	require.NoError(t, err)
	small, err := p.resized(data, want, func(int) {})
	require.NoError(t, err)
	b, err := encode(small, p.outType(kind, small), 90, func(int) {})
	require.NoError(t, err)
	m, format, err := image.Decode(strings.NewReader(b.Data))
	require.NoError(t, err)
	assert.Equal(t, b.Type, "image/"+format)
	assert.NotContains(t, b.Data, "Exif")
	return m
}

// colours returns the colours in the middle of the quarters, as letters.
func colours(m image.Image) string {
	b, text := m.Bounds(), ""
	for _, at := range [][2]int{{1, 1}, {3, 1}, {1, 3}, {3, 3}} {
		r, g, bl, _ := m.At(b.Min.X+b.Dx()*at[0]/4, b.Min.Y+b.Dy()*at[1]/4).RGBA()
		switch {
		case r > 0xc000 && g > 0xc000 && bl > 0xc000:
			text += "w"
		case r > 0xc000 && g < 0x4000:
			text += "r"
		case g > 0xc000 && bl < 0x4000:
			text += "g"
		case bl > 0xc000 && r < 0x4000:
			text += "b"
		default:
			text += "?"
		}
	}
	return text
}

// TestOrientation checks that a photo is turned as its EXIF data says, and its size exchanged.
func TestOrientation(t *testing.T) {
	for orientation, want := range []string{"", "rgbw", "grwb", "wbgr", "bwrg", "rbgw", "brwg", "wgbr", "gwrb"} {
		if orientation == 0 {
			continue
		}
		data := jpegOf(t, corners(160, 80), orientation)
		p, err := look(data)
		require.NoError(t, err)
		assert.Equal(t, orientation, p.orientation)
		shownWidth, shownHeight := p.shown()
		for _, scale := range []int{1, 2, 5} {
			m := resizePicture(t, data, size{width: shownWidth / scale}, "")
			assert.Equal(t, want, colours(m), "orientation %d", orientation)
			assert.Equal(t, image.Pt(shownWidth/scale, shownHeight/scale), m.Bounds().Size())
		}
	}
}

func TestSize(t *testing.T) {
	for _, c := range []struct {
		want size
		kept image.Rectangle
		to   [2]int
	}{
		{size{}, image.Rect(0, 0, 400, 200), [2]int{400, 200}},
		{size{width: 100}, image.Rect(0, 0, 400, 200), [2]int{100, 50}},
		{size{height: 100}, image.Rect(0, 0, 400, 200), [2]int{200, 100}},
		{size{width: 100, height: 100}, image.Rect(0, 0, 400, 200), [2]int{100, 50}},
		{size{width: 100, height: 100, cover: true}, image.Rect(100, 0, 300, 200), [2]int{100, 100}},
		{size{width: 100, height: 10, cover: true}, image.Rect(0, 80, 400, 120), [2]int{100, 10}},
		{size{width: 800}, image.Rect(0, 0, 400, 200), [2]int{400, 200}},
		{size{width: 800, enlarge: true}, image.Rect(0, 0, 400, 200), [2]int{800, 400}},
		{size{width: 800, height: 800, cover: true}, image.Rect(100, 0, 300, 200), [2]int{200, 200}},
		{size{width: 300, height: 7, cover: true}, image.Rect(0, 95, 400, 104), [2]int{300, 7}},
		{size{width: 1}, image.Rect(0, 0, 400, 200), [2]int{1, 1}},
	} {
		kept, width, height := c.want.of(400, 200)
		assert.Equal(t, c.kept, kept, "%+v", c.want)
		assert.Equal(t, c.to, [2]int{width, height}, "%+v", c.want)
	}
	m := resizePicture(t, pngOf(t, corners(400, 200)), size{width: 100, height: 100, cover: true}, "")
	assert.Equal(t, "rgbw", colours(m))
}

// TestFormats checks what each format becomes, transparency too.
func TestFormats(t *testing.T) {
	clear := corners(40, 40)
	clear.Set(3, 3, color.RGBA{})
	var animated bytes.Buffer
	frame := func(c color.Color) *image.Paletted {
		m := image.NewPaletted(image.Rect(0, 0, 40, 40), color.Palette{c})
		return m
	}
	require.NoError(t, gif.EncodeAll(&animated, &gif.GIF{
		Image: []*image.Paletted{frame(color.RGBA{255, 0, 0, 255}), frame(color.RGBA{0, 255, 0, 255})}, Delay: []int{1, 1},
	}))
	assert.Equal(t, "rrrr", colours(resizePicture(t, animated.String(), size{width: 20}, "")), "the first picture")
	for _, c := range [][3]string{
		{"jpeg", jpegOf(t, corners(40, 40), 0), jpegType},
		{"png", pngOf(t, clear), pngType},
		{"gif", animated.String(), pngType},
	} {
		p, err := look(c[1])
		require.NoError(t, err, c[0])
		small, err := p.resized(c[1], size{width: 40}, func(int) {})
		require.NoError(t, err, c[0])
		assert.Equal(t, c[2], p.outType("", small), c[0])
	}
	white := resizePicture(t, pngOf(t, image.NewRGBA(image.Rect(0, 0, 8, 8))), size{}, jpegType)
	assert.Equal(t, "wwww", colours(white), "what was transparent is white in a JPEG")
	webp, err := os.ReadFile("testdata/corners.webp")
	require.NoError(t, err)
	assert.Equal(t, "rgbw", colours(resizePicture(t, string(webp), size{width: 30}, "")))
}

// TestBroken checks that what is no picture, is cut off, or says that it is enormous is an error before it is decoded.
func TestBroken(t *testing.T) {
	for _, data := range []string{"", "text", "RIFF0000WAVEfmt ", "\xff\xd8", "<svg/>"} {
		_, err := look(data)
		assert.Equal(t, errNone, err, "%q", data)
	}
	for name, data := range map[string]string{"jpeg": jpegOf(t, corners(400, 200), 6), "png": pngOf(t, corners(400, 200))} {
		_, err := look(data[:20])
		assert.ErrorContains(t, err, "the picture is broken", name)
		p, err := look(data)
		require.NoError(t, err)
		_, err = p.resized(data[:len(data)-len(data)/3], size{width: 10}, func(int) {})
		assert.ErrorContains(t, err, "the picture is broken", name)
	}
	bomb := []byte(pngOf(t, corners(2, 2)))
	copy(bomb[16:], "\x00\x01\x00\x00\x00\x01\x00\x00") // 65536 x 65536
	_, err := look(string(bomb))
	assert.ErrorContains(t, err, "broken", "its checksum is wrong")
	p := &picture{format: formats[1], width: 65536, height: 65536, orientation: 1, memory: 4}
	assert.EqualError(t, p.checkMemory(size{width: 100}, 64<<20),
		"the picture of 65536 x 65536 pixels needs 16385 MB of memory, and maxMemory is 64 MB")
	assert.NoError(t, (&picture{width: 4000, height: 3000, memory: 2}).checkMemory(size{width: 800}, 64<<20))
	assert.Error(t, (&picture{width: 10, height: 10, memory: 2}).checkMemory(size{width: 16384, enlarge: true}, 64<<20))
}

// TestStopped checks that decoding and scaling are counted as they go.
func TestStopped(t *testing.T) {
	data := jpegOf(t, corners(1600, 1200), 0)
	p, err := look(data)
	require.NoError(t, err)
	calls := 0
	_, err = p.resized(data, size{width: 100}, func(int) { calls++ })
	require.NoError(t, err)
	assert.Greater(t, calls, 75)
}

// FuzzLook checks that a head says a possible picture, and that what it says can be decoded or is an error.
func FuzzLook(f *testing.F) {
	f.Add(jpegOf(f, corners(16, 8), 6))
	f.Add(pngOf(f, corners(16, 8)))
	f.Add("GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")
	f.Fuzz(func(t *testing.T, data string) {
		p, err := look(data)
		if err != nil || p.checkMemory(size{width: 10}, 1<<20) != nil {
			return
		}
		require.True(t, p.width > 0 && p.height > 0 && 1 <= p.orientation && p.orientation <= 8 && p.memory > 0)
		if m, err := p.resized(data, size{width: 10, height: 5, cover: true}, func(int) {}); err == nil {
			require.LessOrEqual(t, m.Rect.Dx(), 10)
			require.LessOrEqual(t, m.Rect.Dy(), 5)
		}
	})
}

// BenchmarkResize makes a picture of 800 pixels of a photo of 12 megapixels.
func BenchmarkResize(b *testing.B) {
	m := image.NewRGBA(image.Rect(0, 0, 4000, 3000))
	noise := rand.New(rand.NewPCG(1, 2))
	for y := range 3000 {
		for x := range 4000 { // a sky with clouds and some grain, about 4 MB
			light := 128 + 60*math.Sin(float64(x)/90)*math.Cos(float64(y)/70) + float64(noise.IntN(16))
			m.SetRGBA(x, y, color.RGBA{uint8(light / 2), uint8(light * 3 / 4), uint8(light), 255})
		}
	}
	data := jpegOf(b, m, 0)
	b.ReportAllocs()
	for b.Loop() {
		p, err := look(data)
		if err != nil {
			b.Fatal(err)
		}
		small, err := p.resized(data, size{width: 800}, func(int) {})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := encode(small, jpegType, defaultQuality, func(int) {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(data))/1e6, "MB/photo")
}
