package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime/mcp"
	"github.com/mayfly-run/mayfly/sandbox"
)

// filesSandbox hands back a file of each kind.
type filesSandbox struct{ fakeSandbox }

func (filesSandbox) Run(context.Context, sandbox.Spec) (sandbox.Result, error) {
	r := sandbox.Result{Status: sandbox.StatusOK, Value: sandbox.RawJSON("1")}
	for _, name := range []string{"a.png", "b.svg", "c d.csv", "e.xlsx", "f.txt"} {
		content := "data"
		if name == "f.txt" {
			content = "\xff"
		}
		r.Artifacts = append(r.Artifacts, sandbox.Artifact{Name: name, MediaType: sandbox.MediaType(name), Bytes: []byte(content)})
	}
	return r, nil
}

// TestArtifacts: pictures are images, except for those that are programs; all
// else is a resource.
func TestArtifacts(t *testing.T) {
	h := newHarness(t, "")
	h.config.OpenSandbox = func(context.Context, string) (sandbox.Sandbox, error) { return filesSandbox{}, nil }
	for _, version := range versions {
		_, c := connect(t, h.open(t), mcp.Config{}, version, nil)
		var got []string
		for _, block := range call(t, c, "python", object{"code": "x"}).Content[1:] {
			switch b := block.(type) {
			case *sdk.ImageContent:
				got = append(got, fmt.Sprintf("image %s %q", b.MIMEType, b.Data))
			case *sdk.EmbeddedResource:
				uri := b.Resource.URI
				got = append(got, fmt.Sprintf("resource %s %s text %q blob %q", b.Resource.MIMEType, uri[strings.LastIndex(uri, "/"):], b.Resource.Text, b.Resource.Blob))
			default:
				t.Errorf("a block of type %T", b)
			}
		}
		want := []string{
			`image image/png "data"`, `resource image/svg+xml /b.svg text "data" blob ""`, `resource text/csv /c%20d.csv text "data" blob ""`,
			`resource application/vnd.openxmlformats-officedocument.spreadsheetml.sheet /e.xlsx text "" blob "data"`,
			`resource text/plain /f.txt text "" blob "\xff"`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
