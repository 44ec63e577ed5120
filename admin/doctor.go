package admin

import (
	"context"
	"errors"
	"time"

	"scripter/doctor"
)

// doctorRoutes lists the pages of doctor's report.
func (s *Server) doctorRoutes() {
	s.page("GET /doctor", owners, (*call).doctorPage)
	s.page("POST /doctor", owners, (*call).askServer)
}

// doctorTime is how long the web server is asked. What has not answered by then is missing in the
// report, which says so.
const doctorTime = 10 * time.Second

// doctorData is doctor's report.
type doctorData struct {
	Asked     bool   `json:"asked"` // the web server was asked
	URL       string `json:"url"`
	Page      string `json:"page,omitempty"`
	Protected string `json:"protected,omitempty"`
	doctor.Report
}

// doctorPage shows what can be seen in the root and on the disk.
func (c *call) doctorPage() (*result, error) { return c.examine(doctor.Options{}) }

// askServer asks the web server that has passed this request on, as "scripter doctor" does.
func (c *call) askServer() (*result, error) {
	return c.examine(doctor.Options{URL: c.origin() + "/", Page: c.field("page"), Protected: c.field("protected")})
}

// origin returns the scheme and host of the request's URL.
func (c *call) origin() string {
	if isSecure(c.r) {
		return "https://" + c.r.Host
	}
	return "http://" + c.r.Host
}

func (c *call) examine(o doctor.Options) (*result, error) {
	ctx, cancel := context.WithTimeout(c.ctx(), doctorTime)
	defer cancel()
	o.Root, o.Reach = c.DB, c.Gateway.Reach()
	if o.URL == "" {
		o.Outside = c.Gateway.Outside(ctx)
	}
	report, err := doctor.Run(ctx, o)
	var option *doctor.OptionError
	if errors.As(err, &option) {
		return nil, badInput(option)
	}
	if err != nil {
		return nil, err
	}
	data := &doctorData{Asked: o.URL != "", URL: c.origin() + "/", Page: o.Page, Protected: o.Protected, Report: report}
	return &result{template: "doctor", title: text("nav.doctor"), data: data}, nil
}
