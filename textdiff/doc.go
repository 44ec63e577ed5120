// Package textdiff compares texts line by line, and merges two changes of one text.
//
// Unified returns a difference in the form that diff -u and git use, and Hunks returns it as
// values. Merge takes two changed versions of one text, and returns a text with both changes.
//
// A line ends after its "\n". So "a" and "a\n" are different lines, and a "\r" before the "\n"
// belongs to the line. No function loses a byte.
package textdiff
