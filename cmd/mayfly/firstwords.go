package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// asMeant turns what people type before they know the verbs into what there is:
// "mayfly help call" and "mayfly --version".
func asMeant(args []string) []string {
	switch {
	case len(args) == 0:
	case args[0] == "help":
		return append(append([]string{}, args[1:]...), "--help")
	case args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	}
	return args
}

// hint is what else to say of a command that cannot be read; empty: nothing.
func hint(verb string, err error) string {
	if verb == "exec " && strings.HasPrefix(err.Error(), "unexpected argument") {
		return "; what code is given are --rows FILE, --arg NAME=JSON and --arg-file NAME=FILE"
	}
	return ""
}

// duration reads flags that are durations without a range of their own.
func duration(ctx *kong.DecodeContext, target reflect.Value) error {
	text, ok := ctx.Scan.Pop().Value.(string)
	if !ok {
		return errors.New("a value must follow")
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is not a duration such as 30s, 15m or 8h", text)
	}
	target.SetInt(int64(d))
	return nil
}
