// Package objectfiles writes objects of a root as files and reads them again, in a folder or
// in an archive.
//
// # The folder form
//
// PlanExport writes a tree of objects as files, one for each object, and Import reads them.
// The supplied objects have this form, and the objects of a site can have it in Git. A table
// is a folder. The suffix of a file says the kind: .lua script, .txt text, .str string, .opml
// outline, .json boolean, number, date, list or address; a binary has the usual suffix of its
// MIME type. A file of text holds exactly the text. Unsafe bytes of a name are written %XX.
//
// A file _index.json says what the other files of its folder cannot say: the kind or the MIME
// type where the suffix is not enough, and names that are too long. In the folder of an empty
// table it is the only file. The index at the top of an export says the version of this form
// (FolderForm); Import refuses a newer one.
//
// # The archive form
//
// An archive is a zip or tar.gz file with the folder form in its folder objects, a README and
// a manifest, which has the checksum of each file. ArchiveWriter writes one. OpenArchive reads
// one from end to end, and refuses an archive that was made to do harm, before anything is
// imported.
package objectfiles
