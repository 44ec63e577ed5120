package admin

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed static
var staticFiles embed.FS

// asset is a file that does not change while the program runs.
type asset struct {
	content []byte
	hash    string
}

// assets returns the files of the folder static by their names.
var assets = sync.OnceValue(func() map[string]asset {
	list, err := fs.ReadDir(staticFiles, "static")
	if err != nil {
		panic(fmt.Sprintf("admin: the embedded files: %v", err))
	}
	m := map[string]asset{}
	for _, e := range list {
		content, err := staticFiles.ReadFile("static/" + e.Name())
		if err != nil {
			panic(fmt.Sprintf("admin: the embedded files: %v", err))
		}
		sum := sha256.Sum256(content)
		m[e.Name()] = asset{content: content, hash: hex.EncodeToString(sum[:8])}
	}
	return m
})

// assetHash returns the part of an asset's URL that changes with its content.
func assetHash(name string) string { return assets()[name].hash }

// static sends a file. Its URL contains a hash of the content, so browsers never ask again.
func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	a, ok := assets()[name]
	if !ok || r.PathValue("hash") != a.hash {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	if name == "map.css" { // for a page of the site in a frame that has no origin
		h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	content := a.content
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		content = zipped(a.content)
	}
	w.Write(content)
}

func zipped(content []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(content)
	z.Close()
	return b.Bytes()
}
