package scripter_test

import (
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const gopherLua = "github.com/yuin/gopher-lua"

// tableMethods are the methods of gopher-lua that read or change the items of a table.
// They do not know how package lua lays them out: they miss integer keys outside the array, and
// panic where a table has few names. LTable.Len is right, because it reads the array only.
var tableMethods = map[string][]string{
	"LTable": {
		"Append", "ForEach", "Insert", "MaxN", "Next", "RawGet", "RawGetH", "RawGetInt", "RawGetString",
		"RawSet", "RawSetH", "RawSetInt", "RawSetString", "Remove",
	},
	"LState": {
		"ForEach", "GetTable", "Next", "RawGet", "RawGetInt", "RawSet", "RawSetInt", "Register", "SetField", "SetFuncs",
		"SetGlobal", "SetTable",
	},
}

// TestTableMethods finds calls of tableMethods outside package lua. lua.RawGet, RawSet, Append
// and Next take their place.
func TestTableMethods(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,CgoFiles,Imports",
		"./...").Output()
	require.NoError(t, err)
	type listed struct {
		ImportPath, Dir, Export    string
		GoFiles, CgoFiles, Imports []string
	}
	exports := map[string]string{}
	var users []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		require.NoError(t, d.Decode(&p))
		exports[p.ImportPath] = p.Export
		ours := strings.HasPrefix(p.ImportPath, "scripter/") && p.ImportPath != "scripter/lua"
		if ours && (slices.Contains(p.Imports, "scripter/lua") || slices.Contains(p.Imports, gopherLua)) {
			users = append(users, p)
		}
	}
	require.NotEmpty(t, users)
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range users {
		require.Empty(t, p.CgoFiles, p.ImportPath)
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, 0)
			require.NoError(t, err)
			files = append(files, f)
		}
		info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
		_, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, files, info)
		require.NoError(t, err)
		for e, s := range info.Selections {
			f, ok := s.Obj().(*types.Func)
			if !ok || f.Pkg() == nil || f.Pkg().Path() != gopherLua {
				continue
			}
			receiver := strings.TrimPrefix(types.TypeString(s.Recv(), func(*types.Package) string { return "" }), "*")
			forbidden := slices.Contains(tableMethods[receiver], f.Name())
			assert.False(t, forbidden, "%v: %s.%s", fset.Position(e.Pos()), receiver, f.Name())
		}
	}
}
