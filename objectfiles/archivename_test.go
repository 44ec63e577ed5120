package objectfiles

import (
	"fmt"
	"strings"
	"testing"
)

func TestArchiveNames(t *testing.T) {
	long := strings.Repeat("n", 60_000)
	tests := []struct{ name, want string }{
		{"/etc/passwd", `the name "/etc/passwd" is absolute`},
		{"objects//etc/passwd.txt", "has an empty part"},
		{"objects/../../up.txt", `has a part ".."`},
		{"objects/..", `has a part ".."`},
		{"../objects/a.txt", `has a part ".."`},
		{"./objects/a.txt", `has a part "."`},
		{`objects\a.txt`, "holds a backslash"},
		{`..\..\a.txt`, "holds a backslash"},
		{"C:/a.txt", "holds the byte 0x3a"},
		{"objects/c:a.txt", "holds the byte 0x3a, which the folder form writes %3A"},
		{"objects/a\nb.txt", "holds the byte 0x0a"},
		{"objects/\x1b[2J.txt", `the name "objects/\x1b[2J.txt" holds the byte 0x1b`},
		{"objects/\u202egnp.txt", `the name "objects/\u202egnp.txt" holds the byte 0xe2`},
		{"objects/ä.txt", "holds the byte 0xc3"},
		{"objects/\xff\xfe.txt", `the name "objects/\xff\xfe.txt" holds the byte 0xff`},
		{"objects/.git/config", "is that of a hidden file"},
		{"objects/.txt", "is that of a hidden file"},
		{"objects/" + long, "has more than 4096 bytes"},
		{"objects/" + strings.Repeat("d/", 5000) + "a.txt", "has more than 4096 bytes"},
		{"objects/" + strings.Repeat("d/", 1000) + "a.txt", "lies more than 200 folders deep"},
		{"objects/" + long[:300] + ".txt", "has a part of more than 255 bytes"},
		{"other/a.txt", "belongs to no Scripter archive"},
		{"a.txt", "belongs to no Scripter archive"},
		{"manifest.json/a.txt", "belongs to no Scripter archive"},
		{"__MACOSX/a.txt", "belongs to no Scripter archive"},
		{"objects", ""},
	}
	for _, test := range tests {
		for format, f := range archiveFormats {
			t.Run(fmt.Sprintf("%s %.20q", format, test.name), func(t *testing.T) {
				good := archiveEntry{name: "objects/good.txt", body: "good"}
				requireRefused(t, makeArchive(t, f, []archiveEntry{good, {name: test.name, body: "x"}}, nil), ImportLimits{},
					test.want)
			})
		}
	}
	// In a tar.gz these cannot be.
	requireRefused(t, makeArchive(t, Zip, []archiveEntry{{name: ""}}, nil), ImportLimits{}, "is empty")
	requireRefused(t, makeArchive(t, Zip, []archiveEntry{{name: "objects/a\x00.txt"}}, nil), ImportLimits{},
		`the name "objects/a\x00.txt" holds the byte 0x00`)
}
