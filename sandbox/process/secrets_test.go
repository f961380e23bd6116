//go:build linux && (amd64 || arm64)

package process

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Secrets reach the program on a descriptor of their own and stand nowhere else:
// not in an environment, an argument, or a descriptor of a child. They cannot be
// changed there.
func TestSecrets(t *testing.T) {
	forTiers(t, func(t *testing.T, mode Namespaces) {
		want := map[string]string{"KEY": "sentinel-7f3a\n\"quoted\" é", "EMPTY": ""}
		spec := Spec{Process: true, Namespaces: mode, Env: map[string]string{"ORDINARY": "seen"}, Secrets: map[string][]byte{}}
		for name, value := range want {
			spec.Secrets[name] = []byte(value)
		}
		r := run(t, spec, "secrets")
		var got struct {
			Error, Text, Environment, Child string
			Sealed                          bool
		}
		if err := json.Unmarshal(r.Value, &got); err != nil {
			t.Fatalf("%v: %s, %+v", err, r.Value, r.Error)
		}
		var handed map[string]string
		if err := json.Unmarshal([]byte(got.Text), &handed); err != nil || got.Error != "" {
			t.Fatalf("%v %s: %q", err, got.Error, got.Text)
		}
		if diff := cmp.Diff(want, handed); diff != "" {
			t.Error(diff)
		}
		if !got.Sealed {
			t.Error("the program could change the secrets")
		}
		// The control: an ordinary variable is in all these places.
		for name, text := range map[string]string{"the program": got.Environment, "its child": got.Child} {
			if !strings.Contains(text, "ORDINARY") {
				t.Errorf("the environment of %s was not seen: %s", name, text)
			}
			if strings.Contains(text, "sentinel") || strings.Contains(text, "KEY=") || strings.Contains(text, "memfd") {
				t.Errorf("%s has a secret: %s", name, text)
			}
		}
	})
}

// Without secrets there is no such descriptor, and the keeper's own is not seen.
func TestNoSecrets(t *testing.T) {
	forTiers(t, func(t *testing.T, mode Namespaces) {
		r := run(t, Spec{Process: true, Namespaces: mode}, "secrets")
		if text := string(r.Value); !strings.Contains(text, "bad file descriptor") {
			t.Errorf("%s, %+v", text, r.Error)
		}
	})
}

func TestRefusedSecrets(t *testing.T) {
	for name, secrets := range map[string]map[string][]byte{
		"no name":     {"": []byte("sentinel")},
		"equals sign": {"A=B": []byte("sentinel")},
		"zero byte":   {"A": []byte("sentinel\x00")},
		"not UTF-8":   {"A": []byte("sentinel\xff")},
		"too large":   {"A": []byte(strings.Repeat("sentinel", maxSecrets/8))},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, Spec{Secrets: secrets}, "secrets")
			if r.Error == nil || r.Error.Path != "/secrets" || strings.Contains(r.Error.Message, "sentinel") || strings.Contains(r.Error.Message, "=B") {
				t.Errorf("status %s, %+v", r.Status, r.Error)
			}
		})
	}
}
