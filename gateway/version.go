package gateway

// Version is that of the three programs; a release sets it with
// -ldflags "-X scripter/gateway.Version=…".
var Version = "0.1.0"

// Program is what the programs call themselves in what they leave behind: in
// a root that they have made, and in an archive.
func Program() string { return "scripter " + Version }
