//go:build !linux

package main

// relayed says that there is no relay on this system.
func relayed() (relayOutcome, string) { return 0, "" }

func bodyRead() []byte { return nil }

// startedFile returns "", because this system does not tell. So two-line files do not
// work here.
func startedFile() string { return "" }

func bodyLate() bool { return false }

const (
	relayNobody relayOutcome = iota + 1
	relayRefused
	relayLost
)
