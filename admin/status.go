package admin

// statusRoutes lists the pages of the status.
func (s *Server) statusRoutes() {}
