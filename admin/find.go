package admin

// findRoutes lists the pages that find objects.
func (s *Server) findRoutes() {}
