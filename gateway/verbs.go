package gateway

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"scripter/script"
)

// Verbs lists the verbs that are written in Go, in the order of their names.
// Scripts see them as tables in system.verbs.builtins; the objects of the
// root that use them are what most scripts call.
func Verbs() []script.Verb {
	verbs := slices.Concat(webserverVerbs, cacheVerbs, argsVerbs, prefsVerbs, errorVerbs, utilVerbs, glueVerbs, passwordVerbs, stringVerbs, writeVerbs, debugVerbs, textVerbs, formVerbs, codeVerbs, jsonVerbs, dateVerbs)
	slices.SortFunc(verbs, func(a, b script.Verb) int { return strings.Compare(a.Name, b.Name) })
	return verbs
}

// hostOf gives the request that a verb was called in.
func hostOf(v *script.Call) (*call, error) {
	c, ok := v.Thread().Host().(*call)
	if !ok {
		return nil, errors.New("this verb works only while a request is answered")
	}
	return c, nil
}

func secondsOf(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

func quote(s string) string { return strconv.Quote(clip(s, 200)) }
