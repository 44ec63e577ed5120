package admin

// runRoutes lists the pages that run scripts, and the console.
func (s *Server) runRoutes() {}
