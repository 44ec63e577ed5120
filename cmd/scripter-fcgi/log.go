package main

import (
	"fmt"
	"os"
)

// openLog makes file the standard error of this process and of those that it starts: the log
// and Go's messages about a dying worker go there. Called again, it opens the file again,
// after a program such as logrotate has moved it. "" leaves the standard error as it is.
func openLog(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o640)
	if err != nil {
		return fmt.Errorf("--log: %w", err)
	}
	defer f.Close()
	if err := replaceDescriptor(int(f.Fd()), 2); err != nil {
		return fmt.Errorf("--log %s: make it the standard error: %w", file, err)
	}
	return nil
}
