package gateway

import (
	"errors"

	"scripter/script"
)

// scriptLimits are the names that package script has for limits, and their settings.
var scriptLimits = map[string]*Setting{
	"time": maxTime, "instructions": maxInstructions, "memory": maxMemory,
}

// LimitOf gives the name of the setting whose limit has ended a request with
// err, "" when none has.
func LimitOf(err error) string {
	var s *script.Error
	if errors.As(err, &s) && s.Limit != "" {
		if set := scriptLimits[s.Limit]; set != nil {
			return set.Name
		}
		return s.Limit
	}
	var crowd *crowded
	if errors.As(err, &crowd) {
		return crowd.setting
	}
	return ""
}
