package expr

import (
	"math/big"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// adapter shows CEL the tree of a call's arguments as it is, without a copy.
type adapter struct{}

// errTooBig is what an integer beyond 64 bits is to an expression: CEL has no
// such integers, and a float in its place would compare equal to others.
var errTooBig = types.NewErr("an integer beyond 64 bits")

// NativeToValue implements types.Adapter. The tree is one that canonjson gives.
func (a adapter) NativeToValue(v any) ref.Val {
	switch v := v.(type) {
	case ref.Val:
		return v
	case map[string]any:
		return types.NewStringInterfaceMap(a, v)
	case []any:
		return types.NewDynamicList(a, v)
	case *big.Int:
		return errTooBig
	}
	return types.DefaultTypeAdapter.NativeToValue(v)
}
