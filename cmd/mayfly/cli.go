package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// commandLine is all that can be said to mayfly; each verb has a file.
type commandLine struct {
	Exec      execCommand      `cmd:"" help:"Run Python or JavaScript in a fresh interpreter."`
	Call      callCommand      `cmd:"" help:"Call a tool under the governor."`
	MCP       mcpCommand       `cmd:"" name:"mcp" help:"Serve the tools to a client of the Model Context Protocol."`
	Serve     serveCommand     `cmd:"" help:"Serve the tools over HTTP, with a console for people."`
	Tokens    tokensCommand    `cmd:"" help:"Make tokens for mayfly serve."`
	Authorize authorizeCommand `cmd:"" help:"Ask the governor about a call, without making it."`
	Approvals approvalsCommand `cmd:"" help:"List, show and answer calls that wait for a person."`
	Runs      runsCommand      `cmd:"" help:"Start, list and show runs."`
	Policy    policyCommand    `cmd:"" help:"Test the policy."`
	Effects   effectsCommand   `cmd:"" help:"List what calls changed, and settle what nobody knows."`
	Trace     traceCommand     `cmd:"" help:"Show what was decided and done."`
	Tools     toolsCommand     `cmd:"" help:"List, show, describe, pin and add tools."`
	Gateway   gatewayCommand   `cmd:"" help:"Print allow-lists for gateways in front of MCP servers."`
	Schema    schemaCommand    `cmd:"" help:"Print the JSON Schema of a manifest."`
	Doctor    doctorCommand    `cmd:"" help:"Check the manifests and what this machine can do."`
	Probe     probeCommand     `cmd:"" help:"Try what confines native tools on this machine."`
	Guests    guestsCommand    `cmd:"" help:"Show the interpreters in this program."`
	Version   versionCommand   `cmd:"" help:"Show the version."`
}

const description = "Mayfly runs model-written code, each call in an interpreter of its own that is gone afterwards."

// run does what args say and gives the exit code.
func run(args []string, p *process) int {
	texts := &textDecoder{}
	args = asMeant(args)
	helpTo, exit := p.stdout, os.Exit
	if len(args) == 0 { // no command is a mistake, and the list of them says how to mend it
		args, helpTo, exit = []string{"--help"}, p.stderr, func(int) { os.Exit(int(exitUsage)) }
	}
	parser, err := kong.New(&commandLine{},
		kong.Name("mayfly"),
		kong.Description(description),
		kong.Writers(helpTo, p.stderr),
		kong.Exit(exit),
		kong.Bind(p),
		kong.WithHyphenPrefixedParameters(true),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(duration)),
		kong.KindMapper(reflect.String, kong.MapperFunc(texts.decode)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		return p.fail(fmt.Errorf("BUG(mayfly): the command line: %w", err))
	}
	texts.addFlags(parser.Model.Node)
	command, err := parser.Parse(args)
	if err != nil {
		verb := ""
		if pe, ok := errors.AsType[*kong.ParseError](err); ok && pe.Context != nil && pe.Context.Selected() != nil {
			verb = strings.TrimPrefix(pe.Context.Selected().FullPath(), "mayfly ") + " "
		}
		if errors.Is(err, syscall.EPIPE) {
			return p.fail(&writeError{err}) // of the help
		}
		return p.fail(usagef("%w%s; see mayfly %s--help", err, hint(verb, err), verb))
	}
	return p.fail(command.Run())
}

// textDecoder reads a flag's or an argument's text. With hyphen-prefixed
// parameters kong's own takes the end of the command line for an empty text, and
// the next flag for the value of one that has none.
type textDecoder struct{ flags []string }

// addFlags tells the decoder which flags there are.
func (d *textDecoder) addFlags(n *kong.Node) {
	for _, f := range n.Flags {
		d.flags = append(d.flags, "--"+f.Name)
	}
	for _, child := range n.Children {
		d.addFlags(child)
	}
}

func (d *textDecoder) decode(ctx *kong.DecodeContext, target reflect.Value) error {
	token := ctx.Scan.Pop()
	text, ok := token.Value.(string)
	if !ok {
		return errors.New("a value must follow")
	}
	if token.Type != kong.FlagValueToken && slices.Contains(d.flags, text) {
		return fmt.Errorf("a value must follow, and not the flag %s", text)
	}
	target.SetString(text)
	return nil
}
