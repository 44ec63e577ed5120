package objectfiles

import (
	"archive/tar"
	"io/fs"
	"strings"
	"testing"
)

func TestManifestFaults(t *testing.T) {
	entries := []archiveEntry{{name: "README.txt", body: "read"}, {name: "objects/a.txt", body: "text"}}
	given := func(body string) []archiveEntry {
		return append([]archiveEntry{{name: manifestFile, body: body}}, entries...)
	}
	tests := []struct {
		name    string
		entries []archiveEntry
		change  func(*Manifest)
		want    string
	}{
		{"none", []archiveEntry{{name: manifestFile + "/", mode: fs.ModeDir, tarType: tar.TypeDir}}, nil, ""},
		{"another's", given(`{"name": "x", "version": "1"}`), nil,
			"manifest.json: it is not the manifest of a Scripter archive"},
		{"no JSON", given("x"), nil, "manifest.json: the JSON is wrong at byte 1"},
		{"bytes", given("\xff\xfe{}"), nil, "the JSON is wrong"},
		{"deep", given(strings.Repeat("[", 100_000)), nil, "the JSON is wrong"},
		{"deep in it", given(`{"scripterArchive": 1, "x": ` + strings.Repeat("[", 100_000)), nil, "the JSON is wrong"},
		{"newer", entries, func(m *Manifest) {
			m.Form = 2
		}, "archive is refused: it was written by a newer version: its form is 2, this program reads 1; " +
			"use the newer program"},
		{"address", entries, func(m *Manifest) { m.Address = "a..b" }, "a name is wanted here"},
		{"remove", entries, func(m *Manifest) { m.Remove = []string{""} }, `it removes "", which is no address of an object`},
		{"missing file", entries, func(m *Manifest) {
			m.Files = append(m.Files, ManifestFile{Name: "objects/\u202eb.txt"})
		}, `the manifest lists "objects/\u202eb.txt", which is not there`},
		{"itself", entries, func(m *Manifest) {
			m.Files = append(m.Files, ManifestFile{Name: manifestFile})
		}, "which is not there"},
		{"unlisted", entries, func(m *Manifest) { m.Files = m.Files[:1] }, "the manifest does not list objects/a.txt"},
		{"listed twice", entries, func(m *Manifest) {
			m.Files = append(m.Files, m.Files[0])
		}, "the manifest lists README.txt twice"},
		{"size", entries, func(m *Manifest) { m.Files[1].Size = 5 }, "objects/a.txt has 4 bytes, and 5 by the manifest"},
		{"negative size", entries, func(m *Manifest) { m.Files[1].Size = -1 }, "-1 by the manifest"},
		{"checksum", entries, func(m *Manifest) {
			m.Files[1].SHA256 = m.Files[0].SHA256
		}, "objects/a.txt: archive is refused: its checksum is not that of the manifest"},
		{"checksum of the README", entries, func(m *Manifest) {
			m.Files[0].SHA256 = ""
		}, "README.txt: archive is refused: its checksum"},
	}
	for _, test := range tests {
		for format, f := range archiveFormats {
			t.Run(test.name+" "+format, func(t *testing.T) {
				requireRefused(t, makeArchive(t, f, test.entries, test.change), ImportLimits{}, test.want)
			})
		}
	}
}
