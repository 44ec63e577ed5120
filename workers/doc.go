//go:build linux

// Package workers answers FastCGI requests with a pool of processes. A script
// can crash, hang or fill its process without any effect on other requests.
//
// The master, a Pool, starts and supervises the workers; it runs no scripts. A
// worker runs one script at a time. A program becomes a worker by Inherited and
// Worker.Serve.
//
// # A request's way
//
// Every worker holds every open connection, so an idle connection occupies no
// worker, and the next request of a connection is served by any free worker.
//
//   - All workers wait for the listening sockets and the shared connections with
//     epoll. EPOLLEXCLUSIVE and EPOLLET wake one of them for an event (loop.go).
//   - The woken worker acquires the connection by a compare-and-swap in shared
//     memory (connstate.go). If another worker serves the connection, the failed
//     attempt leaves a flag, and that worker looks for more data before it
//     releases the connection. So no event is lost.
//   - The worker peeks at the data with MSG_PEEK (serve.go). An incomplete
//     request stays in the socket: a worker that dies loses no unread data.
//   - If the request is complete, the worker reads it, calls the handler and
//     writes the response with package fcgi.
//   - If the request is longer than 16 kB, or its body stalls, the master reads
//     it into a file (spool.go) and shares the connection again, with the file.
//     So a slow body occupies no worker. The master refuses a body that is too
//     large.
//
// A new connection that is to be closed after its request is answered by the
// worker that accepted it. While the worker does so, the socket is also parked
// in a socket pair (parking.go), where the master finds it if the worker dies.
// All other new connections go to the master, who shares them.
//
// After its script, a request may have to wait for the disk. It then yields
// (fcgi.Request.Yield): another loop of the worker handles the next event, so
// that one fsync serves many commits. Each loop has its own activity record in
// shared memory (workerstate.go), which tells the master which requests a dead
// worker had.
//
// # What the master does
//
// If a worker dies, the master answers its requests (refuse.go): with an error
// page if nothing was sent yet, else by closing the connection in the middle of
// the response, so that no client takes half a response for a whole one. The
// master kills a worker whose script exceeds its time limit by a quarter, or
// its memory limit by 64 MB (supervise.go): the language enforces these limits
// itself, but cannot interrupt a single operation. Before a kill, requests that
// have yielded get up to 100 ms to finish (5 ms if the limit is memory). A
// worker that has served one request for 20 ms no longer counts as free, and
// the pool grows, up to Options.Max. Beyond that, requests wait in their sockets'
// buffers; the master refuses those that are too many or wait too long
// (queue.go).
package workers
