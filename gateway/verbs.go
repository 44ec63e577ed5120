package gateway

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"scripter/script"
	"scripter/verbs"
)

// Verbs returns all verbs in the order of their names: those of package verbs, and the
// group webserver, which is the gateway's. Scripts see them as tables in
// system.verbs.builtins; most scripts call the objects of the root that use them.
func Verbs() []script.Verb {
	list := slices.Concat(verbs.All(), answerVerbs, argsVerbs, cacheVerbs, errorVerbs, headVerbs, prefsVerbs,
		replayVerbs, statusVerbs, writeVerbs)
	slices.SortFunc(list, func(a, b script.Verb) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// hostOf returns the attempt to answer a request that a verb was called in.
func hostOf(v *script.Call) (*attempt, error) {
	c, ok := v.Thread().Host().(*attempt)
	if !ok {
		return nil, errors.New("this verb works only while a request is answered")
	}
	return c, nil
}

func secondsOf(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

func quote(s string) string { return strconv.Quote(clip(s, 200)) }
