package fetch

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

func address(text string) netip.Addr { return netip.MustParseAddr(text).Unmap() }

// names is a name server on loopback.
type names struct {
	conn net.PacketConn
	mu   sync.Mutex
	all  map[string]netip.Addr
}

func newNames(t *testing.T) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	n := &names{conn: conn, all: map[string]netip.Addr{}}
	t.Cleanup(func() { conn.Close() })
	go n.serve()
	return n
}

func (n *names) set(name, address string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all[name] = netip.MustParseAddr(address)
}

// resolver returns a resolver that asks this server alone.
func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", n.conn.LocalAddr().String())
	}}
}

func (n *names) serve() {
	buffer := make([]byte, 4096)
	for {
		size, from, err := n.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buffer[:size]) != nil || len(m.Questions) != 1 {
			continue
		}
		q := m.Questions[0]
		n.mu.Lock()
		address, ok := n.all[q.Name.String()]
		n.mu.Unlock()
		m.Response, m.Authoritative, m.Additionals = true, true, nil
		switch {
		case !ok:
			m.RCode = dnsmessage.RCodeNameError
		case q.Type == dnsmessage.TypeA && address.Is4():
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: address.As4()},
			}}
		}
		if answer, err := m.Pack(); err == nil {
			n.conn.WriteTo(answer, from)
		}
	}
}
