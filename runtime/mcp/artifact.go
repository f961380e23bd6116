package mcp

import (
	"net/url"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/sandbox"
)

// artifacts are the files of a call as blocks of content: pictures as images,
// all else as resources. A picture in SVG is text that can hold a program, so it
// is a resource, which no client shows by itself.
func artifacts(r runtime.Result) []sdk.Content {
	var blocks []sdk.Content
	for _, a := range r.Artifacts {
		switch {
		case a.Withheld != "":
			blocks = append(blocks, text(a.Name+" is withheld: "+a.Withheld))
		case isPicture(a.MediaType):
			blocks = append(blocks, &sdk.ImageContent{Data: a.Bytes, MIMEType: a.MediaType})
		default:
			// The address is a name for the client; there is nothing to fetch.
			c := &sdk.ResourceContents{URI: "mayfly://artifacts/" + url.PathEscape(r.CallID) + "/" + url.PathEscape(a.Name), MIMEType: a.MediaType}
			if sandbox.IsTextMediaType(a.MediaType) && utf8.Valid(a.Bytes) {
				c.Text = string(a.Bytes)
			} else {
				c.Blob = a.Bytes
			}
			blocks = append(blocks, &sdk.EmbeddedResource{Resource: c})
		}
	}
	return blocks
}

func isPicture(mediaType string) bool {
	switch mediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}
