// Package foldersync synchronizes a table of a root and a folder of files, in both directions.
//
// A Folder is the pair. Sync compares both sides with what they had in common after the last
// sync (the base), object by object and by content. What one side has changed is taken to the
// other. If both have changed an object, its text is merged by line. If that does not work,
// neither side is written: the object is in conflict, until somebody decides (Round.Take).
// Watch does the same whenever something changes.
//
// The files have the folder form of package objectfiles. The folder .scripter holds what a sync
// needs to know:
//
//	sync.json    the base: name and checksum of each object, to find out what was changed
//	begun.json   what a sync is about to do; it exists only while a sync runs
//	progress     which files that sync has written
//	base/        the texts of the base, by checksum, for merges
//	conflicts/   the root's text of each object in conflict
//	tmp/         files that are being written
//	rescued/     files of the user that a killed sync had moved away
//
// # Interruption
//
// A sync may be killed at any instant. It writes begun.json, then the root in one transaction,
// then the files, each under another name first, and at last sync.json. The next sync finds
// begun.json. The history of the root shows whether the transaction was committed, and progress
// shows which files were written. What was written becomes the base; the rest is decided again.
// In the rare case that this cannot be known, the object is in conflict.
//
// # Reading the source
//
// scan.go reads the folder, and tree.go the root. sync.go has the steps of a sync. decide.go makes
// the plan, and carryout.go and files.go carry it out. recover.go continues after an interruption.
package foldersync
