package admin

// settingsRoutes lists the pages of settings and tables of the site.
func (s *Server) settingsRoutes() {}
