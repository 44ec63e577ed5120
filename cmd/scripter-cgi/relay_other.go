//go:build !linux

package main

// relayed reports that there is no relay on this system.
func relayed() (relayOutcome, string) { return 0, "" }

func bodyRead() []byte { return nil }

// startedFile returns "": this system does not tell, so two-line files do not work.
func startedFile() string { return "" }

func bodyLate() bool { return false }

const (
	relayNone relayOutcome = iota + 1
	relayRefused
	relayLost
)
