package admin

// mapRoutes lists the pages of the page map.
func (s *Server) mapRoutes() {}
