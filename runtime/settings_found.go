package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mayfly-run/mayfly/manifests"
)

// FindSettings looks for what a tool needs of its surroundings: the secrets that it
// is granted, the variables that its headers come from, and the way to the MCP
// server that has it. The error has all that a
// call would end at now, one to a line, and no value. Commands that give secrets are
// looked for, and not run.
func FindSettings(h *manifests.Harness, t *manifests.Tool, lookupEnv func(string) (string, bool)) error {
	v := &vault{harness: h, lookupEnv: lookupEnv}
	var errs []error
	for _, name := range h.SecretsOf(t) {
		if err := v.find(name); err != nil {
			errs = append(errs, err)
		}
	}
	headers := t.Spec.HeadersEnv
	if t.Spec.Transport == manifests.TransportMCP {
		server, known := h.MCPServer(t) // a tool without its server is told of elsewhere
		headers = server.HeadersEnv
		if known {
			errs = append(errs, findServer(h, t, server))
		}
	}
	return errors.Join(append(errs, FindHeaders(headers, lookupEnv))...)
}

// FindHeaders looks for the variables that headers come from, as [FindSettings]
// does.
func FindHeaders(names map[string]string, lookupEnv func(string) (string, bool)) error {
	var errs []error
	for _, header := range slices.Sorted(maps.Keys(names)) {
		if _, err := headersFrom(lookupEnv, map[string]string{header: names[header]}); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// find reports whether a secret could be fetched.
func (v *vault) find(name string) error {
	secret := v.harness.Secrets[name]
	if secret.Command == nil {
		_, err := v.value(context.Background(), name) // which reads a variable or a file
		return err
	}
	spec, err := handlerSpec(secret.Command, v.harness.Origin.Root, "")
	if err == nil {
		err = absent("it needs", spec.Read, append(spec.Exec, spec.Command))
	}
	if err == nil && secret.Grants != nil {
		err = absentGrants(spec, *secret.Grants)
	}
	if err != nil {
		return eachLine(fmt.Sprintf("secret %s: its command: ", name), err)
	}
	return nil
}

// findServer looks for the program of an MCP server and for what that is granted,
// and at whether the tool may reach a server behind a URL.
func findServer(h *manifests.Harness, t *manifests.Tool, server manifests.MCPServer) error {
	if server.Command == nil {
		policy, err := policyOf(t.Spec.EgressAllowed)
		if err == nil {
			err = reachable(server.URL, policy)
		}
		return err
	}
	spec, err := handlerSpec(server.Command, h.Origin.Root, "")
	if err == nil {
		err = absent("it needs", spec.Read, append(spec.Exec, spec.Command))
	}
	if err == nil && server.Grants != nil {
		err = absentGrants(spec, *server.Grants)
	}
	if err != nil {
		return eachLine(fmt.Sprintf("the program of %s: ", t.Spec.Server), err)
	}
	return nil
}

// eachLine puts the same words before each line of an error.
func eachLine(words string, err error) error {
	return errors.New(words + strings.ReplaceAll(err.Error(), "\n", "\n"+words))
}
