package main

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mayfly-run/mayfly/runtime/httpapi"
)

// hangup makes a server read its tokens again.
const hangup = syscall.SIGHUP

// tokensCommand holds the verbs about the tokens of mayfly serve.
type tokensCommand struct {
	New tokensNewCommand `cmd:"" help:"Make a token for mayfly serve, and print it once."`
}

type tokensNewCommand struct {
	Principal    string   `required:"" placeholder:"NAME" help:"On whose behalf calls with the token are, and who answers approvals."`
	Tenant       string   `placeholder:"NAME" help:"For which tenant; * watches all of them and calls nothing. Default: none."`
	Role         []string `sep:"none" placeholder:"ROLE" help:"A role: operator (sees all of the tenant, grants tools), approver (answers approvals that name no role), metrics (reads /metrics), or one that a manifest or task names. Repeatable."`
	Approver     string   `placeholder:"NAME" help:"The person who answers the questions that the client at /mcp shows for this token's calls. Never the principal. Default: nobody is asked there."`
	ApproverRole []string `sep:"none" placeholder:"ROLE" help:"A role that the approver holds. Repeatable."`
	TTL          ttlFlag  `name:"ttl" placeholder:"DURATION" help:"How long it holds. Default: for ever."`
	Tokens       pathFlag `placeholder:"FILE" help:"The token file to add the line to; it is made if it is not there. Default: the line is printed after the token."`
	JSON         bool     `name:"json" help:"Print a JSON object."`
}

func (tokensNewCommand) Help() string {
	return `The file holds a hash of the token, so that whoever reads the file cannot use it. Nobody can find the token again: it is printed here and nowhere else. Taking its line out of the file ends it.

Example:

  mayfly tokens new --principal ann --tenant acme --role finance --tokens tokens.jsonl

Exit codes: 0 done, 2 the command is wrong or the file cannot be written.`
}

// newToken is what "tokens new --json" prints.
type newToken struct {
	Token string         `json:"token"`
	Line  jsontext.Value `json:"line"`
}

func (c *tokensNewCommand) Run(p *process) error {
	var expires time.Time
	if c.TTL > 0 {
		expires = time.Now().Add(time.Duration(c.TTL)).UTC().Truncate(time.Second)
	}
	token, line, err := httpapi.NewToken(httpapi.Caller{Principal: c.Principal, Tenant: c.Tenant, Roles: c.Role, Approver: c.Approver, ApproverRoles: c.ApproverRole}, expires)
	if err != nil {
		return &usageError{err}
	}
	if c.Tokens != "" {
		if err := appendToken(string(c.Tokens), line); err != nil {
			return usagef("--tokens %s: %w", c.Tokens, plainError(err))
		}
	}
	if c.JSON {
		return p.stdout.object(newToken{token, jsontext.Value(line)})
	}
	out := token + "\n"
	if c.Tokens == "" {
		out += string(line) + "\n"
	}
	return p.stdout.all([]byte(out))
}

// appendToken adds a line to a token file that is in order.
func appendToken(path string, line []byte) error {
	if _, err := httpapi.OpenTokens(path, nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	start := []byte{}
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			start = []byte("\n")
		}
	}
	_, err = f.Write(append(append(start, line...), '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}
