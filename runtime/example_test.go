package runtime_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// A host program opens a sandbox once and makes calls.
func ExampleOpenSandbox() {
	ctx := context.Background()
	cache, err := os.UserCacheDir()
	if err != nil {
		log.Fatal(err)
	}
	box, err := runtime.OpenSandbox(ctx, runtime.SandboxConfig{CacheDir: filepath.Join(cache, "mayfly")})
	if err != nil {
		log.Fatal(err)
	}
	defer box.Close()

	rows := &sandbox.Table{
		Columns: []string{"item", "price"},
		Rows:    [][]any{{"tea", 3}, {"cake", 4.5}},
	}
	result, err := box.Run(ctx, sandbox.Spec{
		Code:    "print(len(rows), 'rows')\nsum(r['price'] for r in rows)",
		Globals: map[string]any{"rows": rows},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s%s %s\n", result.Stdout, result.Status, result.Value)

	result, err = box.Run(ctx, sandbox.Spec{Code: "rows"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, result.Error.Type, "in line", result.Error.Line)
	// Output:
	// 2 rows
	// ok 7.5
	// error NameError in line 1
}
