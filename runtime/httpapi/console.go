package httpapi

import (
	"embed"
	"net/http"
	"path"
)

// consoleFiles are the console: plain files, which the browser gets as they are.
// There is nothing in them that a token would have to guard.
//
//go:embed console
var consoleFiles embed.FS

// consolePolicy lets the page load its own files and ask its own server, and
// nothing else: no script or style in the page's text, no other host. Pictures that
// code handed back are data URLs, of nobody's origin.
const consolePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

var consoleTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
}

// consoleRoutes are the console's. No program asks for them, so that they are not
// described.
var consoleRoutes = []route{
	{method: "GET", pattern: "/{$}", public: true, raw: (*request).console},
	{method: "GET", pattern: "/console/{file}", public: true, raw: (*request).console},
}

func (q *request) console() {
	name := q.r.PathValue("file")
	if name == "" {
		name = "index.html"
	}
	text, err := consoleFiles.ReadFile("console/" + name)
	if err != nil {
		q.s.write(q.w, no(refuse(http.StatusNotFound, "not_found", "", "the console has no such file")))
		return
	}
	q.w.Header().Set("Content-Type", consoleTypes[path.Ext(name)])
	q.w.Header().Set("Content-Security-Policy", consolePolicy)
	q.w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
	q.s.writeDeadline(q.w)
	_, _ = q.w.Write(text) // nobody else can be told
}
