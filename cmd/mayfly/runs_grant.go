package main

import (
	"context"
	"errors"
	"time"

	"github.com/mayfly-run/mayfly/internal/store"
	"github.com/mayfly-run/mayfly/runtime"
)

type runsGrantCommand struct {
	ID   string   `arg:"" help:"The run's ID."`
	Tool []string `arg:"" help:"The tools."`
	TTL  ttlFlag  `name:"ttl" placeholder:"DURATION" help:"For how long. Default: as long as the run lasts."`
	As   string   `placeholder:"NAME" help:"Who grants. Default: the user of this process."`
	runtimeFlags
}

func (runsGrantCommand) Help() string {
	return `A run can call only what it was granted. A grant that is there is replaced, also one that was revoked.

Example:

  mayfly runs grant BEP5LRAYKSWDGOFZ3QZSWTDUAU refund_payment --ttl 10m` + manifestExitCodes
}

func (c *runsGrantCommand) Run(p *process) error {
	by := c.As
	if by == "" {
		by = thisUser()
	}
	return c.with(p, useToDecide, func(ctx context.Context, rt *runtime.Runtime, file string) error {
		for _, name := range c.Tool {
			if _, err := findTool(rt.Manifests(), file, name); err != nil {
				return err // before the first is granted
			}
		}
		var expires time.Time
		if c.TTL > 0 {
			expires = time.Now().Add(time.Duration(c.TTL))
		}
		for _, name := range c.Tool {
			if err := rt.Grant(ctx, c.ID, name, by, expires); err != nil {
				return runError(c.ID, err)
			}
		}
		return nil
	})
}

type runsRevokeCommand struct {
	ID   string   `arg:"" help:"The run's ID."`
	Tool []string `arg:"" optional:"" help:"The tools."`
	All  bool     `help:"Every tool, so that the run can call nothing more."`
	runtimeFlags
}

func (runsRevokeCommand) Help() string {
	return `It holds from the next decision on, also for calls that wait for approval or were approved.

Examples:

  mayfly runs revoke BEP5LRAYKSWDGOFZ3QZSWTDUAU refund_payment

  mayfly runs revoke BEP5LRAYKSWDGOFZ3QZSWTDUAU --all` + manifestExitCodes
}

func (c *runsRevokeCommand) Run(p *process) error {
	if c.All == (len(c.Tool) > 0) {
		return usagef("name the tools to take away, or give --all")
	}
	tools := c.Tool
	if c.All {
		tools = []string{""} // which stands for all
	}
	return c.with(p, useToDecide, func(ctx context.Context, rt *runtime.Runtime, file string) error {
		if _, err := rt.Run(ctx, c.ID); err != nil {
			return runError(c.ID, err)
		}
		var errs []error
		for _, name := range tools {
			err := rt.Revoke(ctx, c.ID, name)
			if errors.Is(err, store.ErrNotFound) {
				err = usagef("the run was not granted %s", name)
			}
			errs = append(errs, err) // and go on: what is to be taken away is taken away
		}
		return errors.Join(errs...)
	})
}
