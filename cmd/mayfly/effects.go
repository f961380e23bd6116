package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/runtime"
	"github.com/mayfly-run/mayfly/runtime/wire"
)

// effectsCommand holds the verbs about what calls changed in the world outside.
type effectsCommand struct {
	List   effectsListCommand   `cmd:"" help:"List what calls changed, the newest first."`
	Settle effectsSettleCommand `cmd:"" help:"Say of a change that nobody knows of whether it happened."`
}

type effectsListCommand struct {
	State string    `default:"all" enum:"begun,confirmed,failed,ambiguous,all" help:"begun, confirmed, failed, ambiguous or all. Default all."`
	RunID string    `name:"run" placeholder:"ID" help:"Only those of this run."`
	Tool  string    `placeholder:"NAME" help:"Only those of this tool."`
	Limit limitFlag `placeholder:"N" help:"How many at most, 1 to 1000. Default 100."`
	JSON  bool      `name:"json" help:"Print a JSON object."`
	runtimeFlags
}

func (effectsListCommand) Help() string {
	return `A change is written down before it starts. An ambiguous one may have happened: its process was killed, its time was over, or its connection was lost. Such a call is not repeated until somebody has looked and says so with mayfly effects settle.

Example:

  mayfly effects list --state ambiguous` + manifestExitCodes
}

// effectList is what "effects list --json" prints.
type effectList struct {
	Harness string        `json:"harness"`
	Effects []wire.Effect `json:"effects"`
}

func (c *effectsListCommand) Run(p *process) error {
	return c.with(p, useToLook, func(ctx context.Context, rt *runtime.Runtime, file string) error {
		filter := runtime.EffectFilter{RunID: c.RunID, Tool: c.Tool, Limit: int(c.Limit)}
		if c.State != "all" {
			filter.State = store.EffectState(c.State)
		}
		found, err := rt.Effects(ctx, filter)
		if err != nil {
			return err
		}
		list := effectList{Harness: file, Effects: []wire.Effect{}}
		var rows [][]string
		for _, e := range found {
			j := wire.NewEffect(e)
			list.Effects = append(list.Effects, j)
			rows = append(rows, []string{string(j.State), j.Tool, j.Begun, fmt.Sprint(j.Attempts), dash(j.Outcome), j.Key})
		}
		if c.JSON {
			return p.stdout.object(list)
		}
		if len(rows) == 0 {
			p.stderr.note("there are none")
			return nil
		}
		return p.stdout.table([]string{"STATE", "TOOL", "BEGUN", "ATTEMPTS", "OUTCOME", "KEY"}, rows)
	})
}

type effectsSettleCommand struct {
	Key      string `arg:"" help:"The idempotency key, as effects list prints it."`
	Happened bool   `xor:"what" help:"It did happen: repeating the call gives that back, and nothing runs."`
	Failed   bool   `xor:"what" help:"It did not happen: the call can be repeated, with the same key."`
	As       string `placeholder:"NAME" help:"Who has looked. Default: the user of this process."`
	runtimeFlags
}

func (effectsSettleCommand) Help() string {
	return `Look at the system that the tool changes first: it was given the key, and may know it.

Example:

  mayfly effects settle "$key" --happened` + manifestExitCodes
}

func (c *effectsSettleCommand) Run(p *process) error {
	if !c.Happened && !c.Failed {
		return usagef("--happened or --failed must say what became of the effect")
	}
	by := c.As
	if by == "" {
		by = thisUser()
	}
	if by == "" {
		return usagef("the user of this process has no name; --as says who has looked")
	}
	return c.with(p, useToDecide, func(ctx context.Context, rt *runtime.Runtime, file string) error {
		err := rt.Reconcile(ctx, c.Key, c.Happened, by)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return usagef("there is no effect with this key; mayfly effects list shows all")
		case errors.Is(err, store.ErrFinished):
			return usagef("the effect is not ambiguous; mayfly effects list shows how it ended")
		case errors.Is(err, store.ErrNotOwner):
			return usagef("the call is under way in another process")
		}
		return err
	})
}
