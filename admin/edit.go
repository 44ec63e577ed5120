package admin

// editRoutes lists the pages that change values.
func (s *Server) editRoutes() {}
