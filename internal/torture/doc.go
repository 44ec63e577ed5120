// Package torture has tests that treat Scripter as a black box. They start its programs,
// flood them, disconnect from them and kill them. They check the answers, the root, and
// the memory and files of the processes.
//
//	wire_test.go      peers that close, wait, flood or send wrong data at the FastCGI socket
//	property_test.go  one request stopped anywhere: the root is as before or as after
//	hostile_test.go   hostile scripts in scripter-fcgi with its workers
//	process_test.go   unusual environments, signals, a restart under load
//	power_test.go     power failures: acknowledged writes are in the root
//	torture_test.go   everything at once on one root, with processes killed at random
//
// "go test ./internal/torture" runs the short form. "make torture" sets SCRIPTER_TORTURE,
// the time for torture_test.go (ten minutes by default), and prints its counts.
package torture
