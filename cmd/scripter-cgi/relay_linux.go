package main

// #cgo CFLAGS: -O2 -Wall -D_GNU_SOURCE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
// #include "relay.h"
import "C"

import "unsafe"

// relayed returns whether the request was handed over to a resident server, and why a server
// is not trusted. relay_linux.c tries to hand it over before Go begins.
func relayed() (relayOutcome, string) {
	return relayOutcome(C.relay_outcome), C.GoString(C.relay_reason)
}

// bodyRead returns what the relay has read of the body. The rest is on standard input.
func bodyRead() []byte {
	return C.GoBytes(unsafe.Pointer(&C.relay_body), C.int(C.relay_body_length))
}

// startedFile returns the path of the file that the kernel was told to start: this program,
// or a file whose first line names it. No argument can change it.
func startedFile() string { return C.GoString(C.started_file()) }

// bodyLate reports whether the rest of the body did not arrive in time.
func bodyLate() bool { return C.relay_body_late != 0 }

const (
	relayNone    relayOutcome = C.relay_none
	relayRefused relayOutcome = C.relay_refused
	relayLost    relayOutcome = C.relay_lost
)
