package rewrite

// ValueType is a WebAssembly value type in its binary form.
type ValueType byte

// The value types of WebAssembly 2.0.
const (
	I32       ValueType = 0x7f
	I64       ValueType = 0x7e
	F32       ValueType = 0x7d
	F64       ValueType = 0x7c
	V128      ValueType = 0x7b
	FuncRef   ValueType = 0x70
	ExternRef ValueType = 0x6f
)

func (t ValueType) String() string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	case F32:
		return "f32"
	case F64:
		return "f64"
	case V128:
		return "v128"
	case FuncRef:
		return "funcref"
	case ExternRef:
		return "externref"
	}
	return "unknown"
}

func isValueType(t ValueType) bool {
	return t >= V128 && t <= I32 || t == FuncRef || t == ExternRef
}

func checkValueType(r *reader, at int, b byte) ValueType {
	t := ValueType(b)
	if r.err == nil && !isValueType(t) {
		r.failAt(at, "unknown value type %#x", b)
	}
	return t
}

// funcType is a function's signature. Its two slices alias the module.
type funcType struct {
	params, results []byte // one ValueType each
	// same is the first type index with the same parameters and results: what
	// an indirect call compares.
	same uint32
}
