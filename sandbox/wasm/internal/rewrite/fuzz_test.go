package rewrite

import (
	"hash/maphash"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
)

// FuzzDifferential runs generated modules as they are and rewritten.
func FuzzDifferential(f *testing.F) {
	for i := range 40 {
		f.Add([]byte{byte(i)})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 {
			t.Skip("enough is enough")
		}
		m, calls := generate(data)
		differential(t, m.assemble(t), calls)
	})
}

// outcome is what one call of a generated function leaves.
type outcome struct {
	Results []uint64
	Trap    string
	Globals []uint64
	Pages   uint32
	memory  uint64 // a hash of it
}

var memorySeed = maphash.MakeSeed()

func outcomes(t *testing.T, in *instance, calls []generatedCall) []outcome {
	t.Helper()
	var all []outcome
	for _, c := range calls {
		results, err := in.call(t, c.export, c.args...)
		o := outcome{Results: results, Trap: trapText(err)}
		for _, name := range []string{"g0", "g1", "g2", "steps"} {
			o.Globals = append(o.Globals, in.module.ExportedGlobal(name).Get())
		}
		memory, _ := in.module.Memory().Read(0, in.module.Memory().Size())
		o.Pages = uint32(len(memory) / pageSize)
		o.memory = maphash.Bytes(memorySeed, memory)
		all = append(all, o)
		if err != nil {
			break
		}
	}
	return all
}

// differential is the oracle: the rewritten module must do what the original
// does, and must count.
func differential(t *testing.T, binary []byte, calls []generatedCall) {
	t.Helper()
	plain, err := start(t, binary, 0)
	if err != nil {
		t.Fatalf("the generated module: %v", err)
	}
	original := outcomes(t, plain, calls)
	for _, opt := range allOptions() {
		in, m := startRewritten(t, binary, opt, 100)
		want, got := slices.Clone(original), outcomes(t, in, calls)
		if opt.Devirtualise {
			// The dispatchers know no more than that nothing stands there.
			for i := range want {
				if want[i].Trap == "wasm error: invalid table access" || want[i].Trap == "wasm error: indirect call type mismatch" {
					want[i].Trap = "wasm error: unreachable"
				}
			}
		}
		if opt.Bounds {
			// Within a run of accesses an earlier one may trap for a later one, and
			// then what is between them has not happened.
			forgetTrapped(want, got)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(outcome{}), cmp.FilterPath(func(p cmp.Path) bool {
			return p.Last().String() == ".memory"
		}, cmp.Ignore())); diff != "" {
			t.Errorf("with %+v (-original +rewritten):\n%s", opt, diff)
			continue
		}
		for i := range want {
			if want[i].memory != got[i].memory {
				t.Errorf("with %+v: memory differs after call %d", opt, i)
			}
		}
		if opt.Meter {
			checkMetered(t, m)
		}
	}
}

// FuzzBytes feeds the rewriter anything. What it accepts and the engine
// accepts must be accepted by the engine afterwards too.
func FuzzBytes(f *testing.F) {
	f.Add(meteredModule.assemble(f))
	f.Add(bulkModule.assemble(f))
	f.Add(nop().assemble(f))
	for i := range 10 {
		m, _ := generate([]byte{byte(i), 1})
		f.Add(m.assemble(f))
	}
	f.Fuzz(func(t *testing.T, binary []byte) {
		if len(binary) > 1<<14 {
			t.Skip("enough is enough")
		}
		acceptance(t, binary)
	})
}

func acceptance(t *testing.T, binary []byte) {
	t.Helper()
	ctx := t.Context()
	var original wazero.CompiledModule
	for _, opt := range allOptions() {
		m, err := Rewrite(binary, opt)
		if err != nil {
			continue
		}
		r, err := engine()
		if err != nil {
			t.Fatal(err)
		}
		if original == nil {
			if original, err = r.CompileModule(ctx, binary); err != nil {
				return
			}
			defer original.Close(ctx)
		}
		rewritten, err := r.CompileModule(ctx, m.Wasm)
		if err != nil {
			t.Errorf("with %+v, the rewritten module: %v", opt, err)
			continue
		}
		rewritten.Close(ctx)
		if _, err := Rewrite(m.Wasm, Options{}); !opt.Meter && err != nil {
			t.Errorf("with %+v, rewriting once more: %v", opt, err)
		}
	}
}

// forgetTrapped makes the last outcomes alike if both trapped, each for a
// reason that may come from the same run of accesses.
func forgetTrapped(want, got []outcome) {
	if len(want) == 0 || len(want) != len(got) {
		return
	}
	w, g := &want[len(want)-1], &got[len(got)-1]
	if w.Trap != "" && g.Trap == outOfBounds {
		*g = *w
	}
}

const outOfBounds = "wasm error: out of bounds memory access"
