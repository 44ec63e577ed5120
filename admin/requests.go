package admin

// requestRoutes lists the pages of recorded requests.
func (s *Server) requestRoutes() {}
