package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/mayfly-run/mayfly/sandbox"
)

// replay says what a deterministic call was made of and what came out: two
// calls whose first five digests and whose seed and clock are the same must
// have the same output digest, on any machine.
type replay struct {
	GuestSHA256   string `json:"guest_sha256"`
	ImageSHA256   string `json:"image_sha256"`
	EngineVersion string `json:"engine_version"`
	SourceSHA256  string `json:"source_sha256"`
	ArgsSHA256    string `json:"args_sha256"`
	OutputSHA256  string `json:"output_sha256"`
	Seed          uint64 `json:"seed"`
	Clock         string `json:"clock"`
}

func newReplay(spec sandbox.Spec, result sandbox.Result, box opened) *replay {
	return &replay{
		GuestSHA256:   box.guestDigest,
		ImageSHA256:   box.imageDigest,
		EngineVersion: box.engineVersion,
		SourceSHA256:  digest(func(d *digester) { d.text('s', spec.Name); d.text('s', spec.Code) }),
		ArgsSHA256:    digest(func(d *digester) { d.value(spec.Globals) }),
		OutputSHA256:  digest(func(d *digester) { d.output(result) }),
		Seed:          spec.Deterministic.Seed,
		Clock:         spec.Deterministic.Clock.UTC().Format(time.RFC3339Nano),
	}
}

// digester hashes values so that different ones never give the same bytes:
// every part starts with its kind and length.
type digester struct{ h hash.Hash }

func digest(write func(*digester)) string {
	d := &digester{sha256.New()}
	write(d)
	return hex.EncodeToString(d.h.Sum(nil))
}

func (d *digester) head(kind byte, n uint64) {
	var head [9]byte
	head[0] = kind
	binary.LittleEndian.PutUint64(head[1:], n)
	d.h.Write(head[:])
}

func (d *digester) text(kind byte, s string) {
	d.head(kind, uint64(len(s)))
	d.h.Write([]byte(s))
}

// output hashes what a call left. What it cost is left out: only its fuel is
// the same on every machine.
func (d *digester) output(r sandbox.Result) {
	d.text('s', string(r.Status))
	d.text('j', string(r.Value))
	d.text('s', r.ValuePrefix)
	d.text('b', string(r.Stdout))
	d.text('b', string(r.Stderr))
	if e := r.Error; e != nil {
		for _, s := range []string{e.Type, e.Message, fmt.Sprint(e.Line), e.Source, e.Path, e.Traceback} {
			d.text('s', s)
		}
	}
	for _, a := range r.Artifacts {
		d.text('a', a.Name)
		d.text('b', string(a.Bytes))
	}
	d.head('f', uint64(r.Usage.Fuel))
}

// value hashes one argument of the kinds that Spec.Globals lists and that the
// command line can make.
func (d *digester) value(v any) {
	switch v := v.(type) {
	case nil:
		d.head('n', 0)
	case bool:
		d.text('t', fmt.Sprint(v))
	case int64:
		d.text('i', fmt.Sprint(v))
	case *big.Int:
		d.text('i', v.String())
	case float64:
		d.head('d', math.Float64bits(v))
	case string:
		d.text('s', v)
	case []byte:
		d.text('B', string(v))
	case []any:
		d.head('l', uint64(len(v)))
		for _, item := range v {
			d.value(item)
		}
	case sandbox.RawJSON:
		d.text('j', string(v))
	case map[string]any:
		d.head('m', uint64(len(v)))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			d.text('s', name)
			d.value(v[name])
		}
	case *sandbox.Table:
		d.head('T', uint64(len(v.Columns)))
		for _, name := range v.Columns {
			d.text('s', name)
		}
		d.head('R', uint64(len(v.Rows)))
		for _, row := range v.Rows {
			for _, cell := range row {
				d.value(cell)
			}
		}
	default:
		panic(fmt.Sprintf("BUG(mayfly): no digest for an argument of type %T", v))
	}
}
