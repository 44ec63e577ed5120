package admin

// doctorRoutes lists the pages of doctor's report.
func (s *Server) doctorRoutes() {}
