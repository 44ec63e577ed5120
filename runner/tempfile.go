package runner

import (
	"fmt"
	"os"
)

// TempFile makes a temporary file without a name, which disappears with the process, however that ends. name
// is the beginning of its name for a moment, where the system cannot make one without.
func TempFile(name string) (*os.File, error) {
	if f := unnamed(); f != nil {
		return f, nil
	}
	f, err := os.CreateTemp("", name)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, fmt.Errorf("remove the name of a temporary file: %w", err)
	}
	return f, nil
}
