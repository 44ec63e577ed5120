package objectfiles

import (
	"strings"

	"scripter/objectdb"
)

// kindSuffixes are the suffixes that say a kind. The content of a .json file says its kind.
var kindSuffixes = map[string]objectdb.Kind{
	".lua": objectdb.KindScript, ".txt": objectdb.KindText, ".str": objectdb.KindString,
	".opml": objectdb.KindOutline, ".json": 0,
}

// suffixTypes are the suffixes that say the MIME type of a binary.
var suffixTypes = map[string]string{
	".avif": "image/avif", ".bin": "application/octet-stream", ".bmp": "image/bmp",
	".css": "text/css", ".csv": "text/csv", ".gif": "image/gif", ".gz": "application/gzip",
	".html": "text/html", ".ico": "image/vnd.microsoft.icon", ".jpg": "image/jpeg",
	".js": "text/javascript", ".md": "text/markdown", ".mp3": "audio/mpeg", ".mp4": "video/mp4",
	".ogg": "audio/ogg", ".otf": "font/otf", ".pdf": "application/pdf", ".png": "image/png",
	".svg": "image/svg+xml", ".ttf": "font/ttf", ".wasm": "application/wasm", ".wav": "audio/wav",
	".webm": "video/webm", ".webp": "image/webp", ".woff": "font/woff", ".woff2": "font/woff2",
	".xml": "application/xml", ".zip": "application/zip",
}

// importedTypes are further suffixes that an import knows and an export does not write.
var importedTypes = map[string]string{".jpeg": "image/jpeg", ".htm": "text/html", ".mjs": "text/javascript"}

// typeSuffixes are the suffixes of suffixTypes by MIME type.
var typeSuffixes = func() map[string]string {
	m := make(map[string]string, len(suffixTypes))
	for suffix, mime := range suffixTypes {
		m[mime] = suffix
	}
	return m
}()

// kindOfSuffix returns the kind that a suffix says, 0 for .json, and the MIME type of a binary.
func kindOfSuffix(suffix string) (kind objectdb.Kind, mime string) {
	suffix = strings.ToLower(suffix)
	if mime = suffixTypes[suffix] + importedTypes[suffix]; mime != "" {
		return objectdb.KindBinary, mime
	}
	return kindSuffixes[suffix], ""
}

// isSuffix reports whether a suffix says a kind.
func isSuffix(suffix string) bool {
	suffix = strings.ToLower(suffix)
	_, ok := kindSuffixes[suffix]
	return ok || suffixTypes[suffix]+importedTypes[suffix] != ""
}
