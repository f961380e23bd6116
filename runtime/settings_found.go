package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mayfly-run/mayfly/manifests"
)

// FindSettings looks for what a tool needs of its surroundings: the secrets that it
// is granted, and the variables that its headers come from. The error has all that a
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
		server, _ := h.MCPServer(t) // a tool without its server is told of elsewhere
		headers = server.HeadersEnv
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
	if err != nil {
		return fmt.Errorf("secret %s: its command: %w", name, err)
	}
	return nil
}
