package browsertest

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"scripter/internal/corpus"
)

// The widths of the windows in which pages are looked at.
const (
	Wide   = 1280
	Narrow = 360
)

type look struct {
	width int
	theme string
}

// Look makes the window that wide, and the person's preference the theme "light" or "dark".
func (b *Tab) Look(width int, theme string) {
	b.t.Helper()
	height := 800
	if width < 600 {
		height = 740
	}
	b.window(width, height, theme)
}

func (b *Tab) window(width, height int, theme string) {
	b.t.Helper()
	b.look = look{width, theme}
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: int64(width),
		Height: int64(height), DeviceScaleFactor: 1, Mobile: width < 600})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
}

// Style returns a property of the style of the page, or of its part, as it is shown, such as "background-color".
func (b *Tab) Style(property string) string {
	b.t.Helper()
	value := ""
	if len(b.within) == 0 {
		b.must(`getComputedStyle(document.documentElement).getPropertyValue(`+quoted(property)+`)`, &value)
		return value
	}
	e := (&Tab{b.tab, b.within[:len(b.within)-1]}).find(b.within[len(b.within)-1])
	b.on(e, `function() {
		return getComputedStyle(this.nodeType === 1 ? this : this.parentElement).getPropertyValue(`+quoted(property)+`)
	}`, &value)
	return value
}

// Screenshot keeps a picture of the whole page in a window of that width and theme.
func (b *Tab) Screenshot(name string, width int, theme string) {
	b.t.Helper()
	before := b.look
	b.Look(width, theme)
	b.settle()
	b.picture(name)
	b.Look(before.width, before.theme)
}

// Inspect looks at the page in a wide and in a narrow window, light and dark: it keeps a picture,
// lets axe look for what hinders people, and checks that nobody has to scroll sideways.
func (b *Tab) Inspect(name string) {
	b.t.Helper()
	before := b.look
	for _, width := range []int{Wide, Narrow} {
		b.Look(width, "light")
		b.settle()
		b.picture(name)
		b.Axe()
		b.fits()
		b.Look(width, "dark")
		b.settle()
		b.picture(name)
		b.axe(`{runOnly: ["color-contrast"]}`) // all that a theme changes
	}
	b.Look(before.width, before.theme)
}

// fits checks that the page is not wider than the window, and that nothing is cut off at its left.
func (b *Tab) fits() {
	b.t.Helper()
	wide := ""
	b.must(`(() => {
		const root = document.scrollingElement
		const scrolls = e => e && (getComputedStyle(e).overflowX !== "visible" || scrolls(e.parentElement))
		const out = [...document.body.querySelectorAll("*")].filter(e => {
			const r = e.getBoundingClientRect()
			return (r.right > root.clientWidth + 1 && root.scrollWidth > root.clientWidth ||
				r.left < -1 && r.right > 1) &&
				e.checkVisibility() && !scrolls(e.parentElement)
		})
		if (out.length === 0 && root.scrollWidth <= root.clientWidth) return ""
		return root.scrollWidth + " px: " + out.slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join(" ")
	})()`, &wide)
	if wide != "" {
		b.t.Errorf("%s at %d px: the page does not fit its window: %s", b.URL(), b.look.width, wide)
	}
}

// Picture writes a screenshot of the page, in a window of that size, to a file, for a manual: a PNG with at most
// 256 colours.
func (b *Tab) Picture(file string, width, height int, theme string) {
	b.t.Helper()
	before := b.look
	b.window(width, height, theme)
	b.must(`document.scrollingElement.scrollTo(0, 0)`, nil)
	b.settle()
	shot := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	b.Look(before.width, before.theme)
	full, err := png.Decode(bytes.NewReader(shot.Data))
	if err != nil {
		b.t.Fatalf("picture of %s: %v", b.URL(), err)
	}
	var small bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err = encoder.Encode(&small, fewColours(full)); err == nil {
		err = os.WriteFile(file, small.Bytes(), 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// fewColours returns a picture with its most frequent colours; each other colour becomes the nearest of them.
func fewColours(full image.Image) *image.Paletted {
	area := full.Bounds()
	counts := map[color.Color]int{}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			counts[full.At(x, y)]++
		}
	}
	colours := color.Palette(slices.Collect(maps.Keys(counts)))
	number := func(c color.Color) uint32 { r, g, b, _ := c.RGBA(); return r>>8<<16 | g&0xff00 | b>>8 }
	slices.SortFunc(colours, func(a, b color.Color) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(number(a), number(b)))
	})
	few := image.NewPaletted(area, colours[:min(len(colours), 256)])
	nearest := map[color.Color]uint8{}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			c := full.At(x, y)
			i, known := nearest[c]
			if !known {
				i = uint8(few.Palette.Index(c))
				nearest[c] = i
			}
			few.SetColorIndex(x, y, i)
		}
	}
	return few
}

var unsafe = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// picture keeps a picture of the page as it is now, if somebody wants to see it.
func (b *Tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("SCRIPTER_SCREENSHOTS")
	if dir == "" {
		return
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(corpus.ModuleFolder(b.t), dir) // the tests of a package run in its folder
	}
	if _, err := b.write(dir, name); err != nil {
		b.t.Fatalf("picture of %s: %v", name, err)
	}
}

// write writes a picture of the page into a folder and returns its path.
func (b *Tab) write(dir, name string) (path string, err error) {
	name = strings.Trim(unsafe.ReplaceAllString(name, "-"), "-")
	path = filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, b.look.width, b.look.theme))
	metrics, err := try(b, page.GetLayoutMetrics, struct{}{})
	if err != nil {
		return "", err
	}
	size := metrics.CSSContentSize
	yes := true
	shot, err := try(b, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &yes,
		Clip: &page.Viewport{Width: float64(b.look.width), Height: min(size.Height, 5000), Scale: 1}})
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return path, os.WriteFile(path, shot.Data, 0o644)
}
