// Package torture holds the tests that treat Scripter as a black box and badly:
// its programs are started, flooded, cut off and killed, and all that is looked
// at is what comes back, what lies in the root, and what the processes hold.
//
//	wire_test.go      peers that leave, wait, flood or lie, at the FastCGI socket
//	property_test.go  one request stopped anywhere: the root is as before or as after
//	hostile_test.go   hostile scripts in the program as it is used, with its workers
//	process_test.go   strange surroundings, signals, a program started anew under load
//	power_test.go     whenever the power fails, what a visitor was told is in the root
//	torture_test.go   everything at once on one root, killed at random
//
// go test ./internal/torture takes the short form; "make torture" sets
// SCRIPTER_TORTURE to how long everything at once may last, ten minutes as it
// stands, and prints what it counted.
package torture
