package fetch

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
)

// ErrGroup says that a rule is for many hosts, of which none can be tried.
var ErrGroup = errors.New("a group of hosts is not tried")

// Reach connects to the host of a rule, such as api.example.com:8443 of a line fetch, and sends nothing. Without a
// port, and without http://, it is that of https.
func (c *Client) Reach(ctx context.Context, rule string) error {
	if strings.Contains(rule, "*") {
		return ErrGroup
	}
	if !strings.Contains(rule, "://") {
		rule = "https://" + rule
	}
	u, err := url.Parse(rule)
	if err != nil {
		return err
	}
	check := checkPublic
	if _, private := c.options.Reach.MayFetch(u); private {
		check = checkPrivate
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	conn, err := c.dialer(check)(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		var refused *Refused
		if errors.As(err, &refused) {
			return refused
		}
		return err
	}
	return conn.Close()
}
