package admin

// userRoutes lists the pages of people and their roles.
func (s *Server) userRoutes() {}
