package rocks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"scripter/lua"
)

// A rockspec is what a file of that kind says: it is Lua that assigns globals.
type rockspec struct {
	path             string
	name, version    string
	licence, summary string
	needs            []string
	modules, install map[string]string // files by the names of modules; "" for those that are not Lua
}

// evaluate runs a file of LuaRocks, which gets no function and little time, and returns its globals.
func evaluate(path, source string) (func(names ...string) lua.LValue, func(), error) {
	l := lua.DefaultLimits()
	l.Time, l.Instructions, l.MemoryBytes = 2*time.Second, 1_000_000, 32<<20
	s := lua.New(context.Background(), lua.Options{Limits: l})
	proto, err := s.Compile(path, source)
	if err == nil {
		_, _, err = s.Call(nil, s.NewFunction(proto), nil)
	}
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return func(names ...string) lua.LValue {
		var lv lua.LValue = s.Globals()
		for _, name := range names {
			tb, ok := lv.(*lua.LTable)
			if !ok {
				return lua.LNil
			}
			lv = lua.RawGet(tb, lua.LString(name))
		}
		return lv
	}, s.Close, nil
}

// parseSpec reads a rockspec.
func parseSpec(path, source string) (*rockspec, error) {
	get, end, err := evaluate(path, source)
	if err != nil {
		return nil, fmt.Errorf("%s is no rockspec: %w", path, err)
	}
	defer end()
	text := func(names ...string) string {
		s, _ := get(names...).(lua.LString)
		return strings.TrimSpace(string(s))
	}
	s := &rockspec{
		path: path, name: text("package"), version: text("version"), licence: text("description", "license"),
		summary: text("description", "summary"), modules: map[string]string{}, install: map[string]string{},
	}
	if s.name == "" {
		return nil, fmt.Errorf("%s is no rockspec: it has no package", path)
	}
	each(get("dependencies"), func(_, v lua.LValue) {
		name, _, _ := strings.Cut(strings.TrimSpace(v.String()), " ")
		name = strings.TrimRight(name, "<>=~")
		if name != "" && strings.ToLower(name) != "lua" {
			s.needs = append(s.needs, name)
		}
	})
	list := func(to map[string]string, v lua.LValue) {
		each(v, func(k, v lua.LValue) {
			file, _ := v.(lua.LString) // a table has the sources of a module in C
			if name, ok := k.(lua.LString); ok {
				to[string(name)] = string(file)
			} else if file != "" {
				to[moduleName(string(file))] = string(file)
			}
		})
	}
	list(s.modules, get("build", "modules"))
	list(s.install, get("build", "install", "lua"))
	return s, nil
}

// parseManifest returns the files of Lua that a rock_manifest lists, below share/lua/5.1.
func parseManifest(path, source string) ([]string, error) {
	get, end, err := evaluate(path, source)
	if err != nil {
		return nil, fmt.Errorf("%s is no manifest: %w", path, err)
	}
	defer end()
	var list []string
	var walk func(v lua.LValue, below string, depth int) error
	walk = func(v lua.LValue, below string, depth int) (err error) {
		if depth > 20 {
			return errors.New(path + " is no manifest: its folders nest too deep")
		}
		each(v, func(k, v lua.LValue) {
			name := below + k.String()
			if _, ok := v.(*lua.LTable); ok && err == nil {
				err = walk(v, name+"/", depth+1)
			} else if strings.HasSuffix(name, ".lua") {
				list = append(list, name)
			}
		})
		return err
	}
	return list, walk(get("rock_manifest", "lua"), "", 0)
}

// each calls f for the cells of a table; anything else has none.
func each(v lua.LValue, f func(k, v lua.LValue)) {
	tb, ok := v.(*lua.LTable)
	if !ok {
		return
	}
	for k, v := lua.Next(tb, lua.LNil); k != lua.LNil; k, v = lua.Next(tb, k) {
		f(k, v)
	}
}
