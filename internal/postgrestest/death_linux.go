package postgrestest

import "syscall"

// setDeathSignal lets the kernel end the server when the thread that has started it ends.
func setDeathSignal(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGQUIT }
