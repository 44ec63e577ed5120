package requestlog

import (
	"fmt"
	"strconv"
	"strings"

	"scripter/objectdb"
)

// incidentLength is the length of an incident's number.
const incidentLength = 8

// IsIncident reports whether text has the form of an incident's number.
func IsIncident(text string) bool {
	return len(text) == incidentLength && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// A Name names a recorded request as people do: by its number, 0 for the last one, or by the
// incident number that the visitor saw. If that has digits only, it may also be a number.
type Name struct {
	Number   int
	Incident string // in lower case; "" = the number counts
}

// ParseName returns the name that a text stands for.
func ParseName(text string) (Name, error) {
	n, err := strconv.Atoi(text)
	incident := strings.ToLower(text)
	switch {
	case IsIncident(incident):
		return Name{n, incident}, nil
	case err != nil || n < 1:
		return Name{}, fmt.Errorf("%q is neither the number of a recorded request nor an incident number", text)
	}
	return Name{Number: n}, nil
}

// Find returns the recorded request with this name. If there is none, the error wraps
// [ErrNotFound] and gives the reason.
func (n Name) Find(tx *objectdb.Tx) (*Request, error) {
	if n.Incident == "" {
		return Find(tx, n.Number)
	}
	r, err := FindIncident(tx, n.Incident)
	if err != nil && n.Number > 0 {
		if r, err := Find(tx, n.Number); err == nil {
			return r, nil
		}
	}
	return r, err
}
