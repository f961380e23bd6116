package rewrite

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// instance is a module that runs under wazero.
type instance struct {
	module   api.Module
	interval int64
	refuels  int
}

const testFeatures = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall

// compiler is the engine that guests run on.
func compiler() wazero.RuntimeConfig {
	return wazero.NewRuntimeConfigCompiler().WithCoreFeatures(testFeatures)
}

// instanceKey finds the instance in the context of a call.
type instanceKey struct{}

// engine is shared by all tests: making one, with its host functions, takes
// longer than most modules here.
var engine = sync.OnceValues(func() (wazero.Runtime, error) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, compiler())
	_, err := r.NewHostModuleBuilder(refuelModule).NewFunctionBuilder().WithGoModuleFunction(
		api.GoModuleFunc(func(ctx context.Context, m api.Module, _ []uint64) {
			in := ctx.Value(instanceKey{}).(*instance)
			in.refuels++
			g := m.ExportedGlobal(FuelGlobal).(api.MutableGlobal)
			g.Set(uint64(int64(g.Get()) + in.interval))
		}), nil, nil).Export(refuelName).Instantiate(ctx)
	if err != nil {
		return nil, err
	}
	_, err = r.NewHostModuleBuilder("env").NewFunctionBuilder().WithGoFunction(
		api.GoFunc(func(_ context.Context, stack []uint64) { stack[0] = stack[0]*2 + 1 }),
		[]api.ValueType{api.ValueTypeI32}, []api.ValueType{api.ValueTypeI32}).Export("odd").Instantiate(ctx)
	return r, err
})

// start instantiates a binary. Each refuel adds interval units.
func start(t testing.TB, binary []byte, interval int64) (*instance, error) {
	t.Helper()
	r, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	compiled, err := r.CompileModule(ctx, binary)
	if err != nil {
		return nil, err
	}
	in := &instance{interval: interval}
	in.module, err = r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	t.Cleanup(func() {
		if in.module != nil {
			in.module.Close(context.Background())
		}
		compiled.Close(context.Background())
	})
	return in, err
}

// startRewritten rewrites, instantiates, and puts the data in place.
func startRewritten(t testing.TB, binary []byte, opt Options, interval int64) (*instance, Module) {
	t.Helper()
	m, err := Rewrite(binary, opt)
	if err != nil {
		t.Fatalf("Rewrite: %v", err)
	}
	in, err := start(t, m.Wasm, interval)
	if err != nil {
		t.Fatalf("the rewritten module: %v", err)
	}
	for _, d := range m.Data {
		if !in.module.Memory().Write(d.Offset, d.Bytes) {
			t.Fatalf("data segment at %#x is outside the memory", d.Offset)
		}
	}
	return in, m
}

func (in *instance) call(t testing.TB, name string, args ...uint64) ([]uint64, error) {
	t.Helper()
	f := in.module.ExportedFunction(name)
	if f == nil {
		t.Fatalf("no export %q", name)
	}
	return f.Call(context.WithValue(t.Context(), instanceKey{}, in), args...)
}

func (in *instance) fuel() int64 { return int64(in.module.ExportedGlobal(FuelGlobal).Get()) }

func setFuel(in *instance, units int64) {
	in.module.ExportedGlobal(FuelGlobal).(api.MutableGlobal).Set(uint64(units))
}

// trapText is the first line of a trap: what is behind it names functions.
func trapText(err error) string {
	if err == nil {
		return ""
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
