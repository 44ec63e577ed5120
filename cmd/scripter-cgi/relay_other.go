//go:build !linux

package main

// relayed says that there is no relay on this system.
func relayed() (relayOutcome, string) { return 0, "" }

func bodyRead() []byte { return nil }

// startedFile returns "": this system does not tell, so no two-line file is
// believed.
func startedFile() string { return "" }

func bodyLate() bool { return false }

const (
	relayNobody relayOutcome = iota + 1
	relayRefused
	relayLost
)
