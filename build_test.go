package scripter_test

import (
	"debug/buildinfo"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHardenedBuild builds the programs as "make build" does, and looks at what the
// compilers and the linker have made of the flags in the Makefile.
func TestHardenedBuild(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("make", "-s", "build", "BIN="+bin)
	build.Env = append(os.Environ(), "MAKEFLAGS=") // this test may itself run below make
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, name := range []string{"scripter", "scripter-cgi", "scripter-fcgi"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(bin, name)
			f, err := elf.Open(file)
			require.NoError(t, err)
			defer f.Close()
			assert.Equal(t, elf.ET_DYN, f.Type, "it is not position-independent")
			assert.Equal(t, uint64(elf.DF_1_PIE), flag(t, f, elf.DT_FLAGS_1)&uint64(elf.DF_1_PIE), "it is not position-independent")
			assert.Equal(t, uint64(elf.DF_1_NOW), flag(t, f, elf.DT_FLAGS_1)&uint64(elf.DF_1_NOW), "symbols are resolved late")
			assert.True(t, hasSegment(f, elf.PT_GNU_RELRO), "what the linker resolves can be written")
			for _, p := range f.Progs {
				if p.Type == elf.PT_LOAD || p.Type == elf.PT_GNU_STACK {
					assert.NotEqual(t, elf.PF_W|elf.PF_X, p.Flags&(elf.PF_W|elf.PF_X), "%v is writable and executable", p.Type)
				}
			}
			info, err := buildinfo.ReadFile(file)
			require.NoError(t, err)
			settings := map[string]string{}
			for _, s := range info.Settings {
				settings[s.Key] = s.Value
			}
			assert.Contains(t, settings["CGO_CFLAGS"], "-fstack-protector-strong")
			assert.Contains(t, settings["CGO_CFLAGS"], "-D_FORTIFY_SOURCE=2")
			if !hasSegment(f, elf.PT_INTERP) {
				return // a static program imports nothing
			}
			symbols, err := f.ImportedSymbols()
			require.NoError(t, err)
			var names []string
			for _, s := range symbols {
				names = append(names, s.Name)
			}
			assert.Contains(t, names, "__stack_chk_fail", "no C function checks its stack")
			assert.Contains(t, names, "__memcpy_chk", "no C function checks its buffers")
		})
	}
}

func flag(t *testing.T, f *elf.File, tag elf.DynTag) uint64 {
	t.Helper()
	values, err := f.DynValue(tag)
	require.NoError(t, err)
	require.Len(t, values, 1, "%v", tag)
	return values[0]
}

func hasSegment(f *elf.File, want elf.ProgType) bool {
	for _, p := range f.Progs {
		if p.Type == want {
			return true
		}
	}
	return false
}
