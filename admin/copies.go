package admin

// copyRoutes lists the pages of saved copies.
func (s *Server) copyRoutes() {}
