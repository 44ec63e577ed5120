package fcgi

// Len returns how many bytes of the body Read returns without waiting for the web server:
// those that arrived with the parameters. There may be more.
func (in *stdin) Len() int {
	req := (*request)(in)
	if req.over.Load() {
		return 0 // without waiting for the lock, which the next request may hold
	}
	c := req.c
	c.rmu.Lock()
	defer c.rmu.Unlock()
	if c.mem == nil || req.over.Load() || req.bodyErr != nil || req.stdinDone.Load() {
		return 0
	}
	n, b := 0, c.buf[c.r:c.w]
	if c.inRecord {
		if c.h.typ == typeStdin && c.h.id == req.ID {
			n = min(c.rem, len(b))
		}
		b = b[min(c.rem+c.pad, len(b)):]
	}
	for len(b) >= headerLen {
		h := parseHeader(b)
		if b[0] != version || h.typ != typeStdin || h.id != req.ID {
			break
		}
		b = b[headerLen:]
		n += min(h.length, len(b))
		b = b[min(h.length+h.padding, len(b)):]
	}
	return n
}
