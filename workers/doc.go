//go:build linux

// Package workers answers FastCGI requests by a pool of processes, so that
// whatever a script does to its process, no other request notices.
//
// The master, a Pool, starts the workers and looks after them; it runs no
// request. A worker runs one script at a time. All workers hold all the
// connections, so an idle connection holds no worker, and the next request of a
// connection is served by whoever is free. How a process becomes a worker is
// Inherited and Worker.Serve.
//
// # How a connection finds its worker
//
// All workers wait for the listening sockets and for every shared connection
// with epoll (EPOLLEXCLUSIVE and EPOLLET: one event wakes one of those who
// wait; who is busy finds it later, if it is still to be done). Who is woken
// claims the connection by a compare-and-swap on a word in shared memory, looks
// at what has come without taking it from the socket (MSG_PEEK), and leaves it
// there as long as it is not a whole request: what no process has read, no dying
// process takes with it. A request that is longer than 16 kB, or whose body
// stalls, is read by the master into a file, which comes with the connection when
// it is shared again: a slow body holds no worker, and one that is larger than it
// may be is refused there. A claim that fails leaves a mark, and who has the
// connection looks once more before it lets go, so no event is lost.
//
// A new connection whose request wants it closed afterwards is answered by the
// worker that accepted it. Meanwhile its socket lies in a socket pair between
// worker and master (deposit), where nobody looks unless the worker dies. Any
// other new connection goes to the master, who hands it to all.
//
// A request whose scripts have ended and that only waits for the disk steps aside
// (fcgi.Request.StepAside): another loop of its worker takes the next event, so that
// one turn of the disk serves many requests. Each loop has a place of its own in the
// shared memory, where the master finds what becomes of its request.
//
// # What is contained
//
// When a worker dies, the master answers in its place if nothing was sent yet,
// else the connection is closed in the middle of the answer, so that nobody takes
// half an answer for a whole one. Requests that have stepped aside in it are
// answered before it is killed, if the disk is not slower than 100 ms (5 ms where the
// memory grows). The master kills a worker whose script overruns
// its time, or whose memory grows, by more than they may: it is gone before that is
// a quarter of the time, or 64 MB. The language keeps these limits itself, but
// cannot interrupt a single
// operation. A worker that has been at one request for 20 ms no longer counts as
// free, and the pool grows, up to Max; then requests wait, in the sockets' own
// buffers, and those too many or too long are refused.
//
// # Why so
//
// Measured with an empty handler, 16 clients, two processors, processor time of a
// request: a single process 8.6 µs; this pool of two workers 10.3 µs, of four
// 15 µs; a master that reads requests and passes them on to workers over
// socket pairs 55 µs to 69 µs, four fifths of it for waking one another.
package workers
