package requestlog

import "time"

// Milliseconds returns how long the request took.
func (r *Request) Milliseconds() float64 { return float64(r.Duration) / float64(time.Millisecond) }

// Fields returns the request as programs read it: whole, or what a list has of it.
func (r *Request) Fields(whole bool) map[string]any {
	m := map[string]any{
		"number": r.Number, "time": r.Time.UTC(), "request": r.Line(), "masked": append([]string{}, r.Masked...),
	}
	if a := r.Answer; a != nil {
		m["status"], m["milliseconds"] = a.Status, r.Milliseconds()
	}
	if r.Incident != "" {
		m["incident"] = r.Incident
	}
	if !whole {
		return m
	}
	m["generation"] = r.Generation
	m["variables"], m["body"], m["bodySize"], m["cut"] = r.Variables, r.Body, r.BodySize, append([]string{}, r.Cut...)
	if r.Error != "" {
		m["error"] = r.Error
	}
	if a := r.Answer; a != nil {
		m["response"] = a.Fields()
	}
	if len(r.Fetches) > 0 {
		m["fetches"] = r.Fetches
	}
	r.Reads.AddTo(m)
	return m
}

// Fields returns the answer as programs read it.
func (a *Answer) Fields() map[string]any {
	m := map[string]any{"status": a.Status, "head": a.Head, "size": a.Size}
	if a.Whole() {
		m["body"] = a.Body
	} else {
		m["sha256"] = a.SHA256
	}
	return m
}
