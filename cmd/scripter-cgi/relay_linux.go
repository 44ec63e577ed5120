package main

// #cgo CFLAGS: -O2 -Wall -D_GNU_SOURCE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
// #include "relay.h"
import "C"

import "unsafe"

// relayed tells what became of the attempt to hand the request over to a
// resident server, which was made before this program's Go began
// (relay_linux.c), and why a server is not trusted.
func relayed() (relayOutcome, string) {
	return relayOutcome(C.relay_outcome), C.GoString(C.relay_reason)
}

// bodyRead is what the relay has read of the body, which is to be read before
// standard input.
func bodyRead() []byte {
	return C.GoBytes(unsafe.Pointer(&C.relay_body), C.int(C.relay_body_length))
}

// startedFile returns the path of the file that the kernel was told to start: this
// program, or a file whose first line names it. No argument can change it.
func startedFile() string { return C.GoString(C.started_file()) }

// bodyLate reports whether the relay has waited too long for the rest of the body.
func bodyLate() bool { return C.relay_body_late != 0 }

const (
	relayNobody  relayOutcome = C.relay_nobody
	relayRefused relayOutcome = C.relay_refused
	relayLost    relayOutcome = C.relay_lost
)
