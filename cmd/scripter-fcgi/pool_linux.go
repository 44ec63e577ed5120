package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"time"

	"scripter/fcgi"
	"scripter/gateway"
	"scripter/workers"
)

// defaultWorkers is how many scripts run at a time at most, each in a process
// of its own. Only as many processes are kept as are needed.
const defaultWorkers = 16

// maxWorkers is how many there can be.
const maxWorkers = 64

// master looks after the pool of workers of one root at a time.
type master struct {
	o          options
	executable string
	ls         *sockets
	web, door  detached
	pool       *workers.Pool
	log        *slog.Logger
	sums       tally
	bodies     bodies
}

// servePool answers by worker processes until ctx ends.
func servePool(ctx context.Context, o options, bounds gateway.Bounds, ls *sockets, u *upkeep, log *slog.Logger) error {
	m := &master{o: o, ls: ls, log: log, bodies: bodies{root: o.root}}
	defer m.close()
	if err := m.start(bounds); err != nil {
		return err
	}
	many := &many{Pool: m.pool, sums: &m.sums}
	u.begin(many.counts, many)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-u.hup:
			u.again(func(s served) error { return m.again(ctx, s) })
		case <-time.After(askEvery):
			many.ask()
		}
	}
	u.stopping()
	m.web.remove() // whoever comes now goes elsewhere
	m.door.remove()
	return drain(o.drain, m.pool.Shutdown)
}

func (m *master) start(bounds gateway.Bounds) (err error) {
	if m.executable, err = ownProgram(); err != nil {
		return err
	}
	if m.web, err = detach(m.ls.web); err != nil {
		return err
	}
	if m.door, err = detach(m.ls.door); err != nil {
		return err
	}
	m.pool, err = workers.Start(workers.Options{
		Command:        workerCommand(m.executable, served{m.o.root, m.o.reach}),
		Listeners:      files(m.web, m.door),
		Drain:          m.o.listen != "",
		Max:            m.o.workers,
		Waiting:        bounds.Waiting,
		MaxBody:        bounds.Body,
		CurrentMaxBody: m.bodies.largest,
		Lost:           func(l workers.Loss) []byte { return lost(m.log, &m.sums, l) },
		Report:         m.sums.told,
		Log:            func(err error) { m.log.Warn("workers", "err", err) },
	})
	return err
}

func (m *master) close() {
	m.web.close()
	m.door.close()
}

// again reads the settings of a root that may be another one now, and starts
// new workers on it. A root that cannot be opened leaves all as it is.
func (m *master) again(ctx context.Context, s served) error {
	return m.ls.move(s.root, m.log, func(l net.Listener, moved bool) error {
		door := m.door
		if moved {
			var err error
			if door, err = detach(l); err != nil {
				return err
			}
		}
		if err := m.reload(ctx, s, files(m.web, door)); err != nil {
			if moved {
				door.close()
			}
			return err
		}
		if moved {
			m.door.close()
			m.door = door
		}
		return nil
	})
}

func (m *master) reload(ctx context.Context, s served, listeners []*os.File) error {
	db, err := openRoot(s.root)
	if err != nil {
		return err
	}
	b, err := readBounds(ctx, db)
	if err == nil {
		err = warnUnlisted(ctx, db, s.reach, m.log)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	most := m.o.workers
	if !m.o.fixed {
		most = atMost(b, defaultWorkers)
	}
	if err := m.pool.Listen(listeners); err != nil {
		return err
	}
	m.pool.Command(workerCommand(m.executable, s))
	m.pool.Resize(most, b.Waiting, b.Body)
	m.bodies.move(s.root)
	return m.pool.Reload()
}

// boundsOf reads the settings of a root that this process does not keep open.
func boundsOf(ctx context.Context, root string) (gateway.Bounds, error) {
	db, err := openRoot(root)
	if err != nil {
		return gateway.Bounds{}, err
	}
	defer db.Close()
	return readBounds(ctx, db)
}

// detached is a listening socket that the workers accept from. The zero value is
// none.
type detached struct {
	file   *os.File
	unlink func()
}

// detach takes the socket of l, which may be nil.
func detach(l net.Listener) (d detached, err error) {
	if l != nil {
		d.file, d.unlink, err = fcgi.Detach(l)
	}
	return d, err
}

// remove takes the name of the socket away.
func (d detached) remove() {
	if d.unlink != nil {
		d.unlink()
	}
}

func (d detached) close() {
	d.remove()
	if d.file != nil {
		d.file.Close()
	}
}

func files(ds ...detached) (fs []*os.File) {
	for _, d := range ds {
		if d.file != nil {
			fs = append(fs, d.file)
		}
	}
	return fs
}

// ownProgram returns what to start workers from: the program that this process
// runs, whatever lies under its name by now. A newer one would not understand
// this one's memory.
func ownProgram() (string, error) {
	const own = "/proc/self/exe"
	if _, err := os.Stat(own); err == nil {
		return own, nil
	}
	return os.Executable()
}

// workerCommand starts a worker on a root.
func workerCommand(executable string, s served) []string {
	return append([]string{executable, "--root", s.root}, s.reach.Flags()...)
}
