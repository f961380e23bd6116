package store

import (
	"strconv"
	"testing"
	"time"
)

// TestMemorySweep: places that nobody will ask about again do not stay.
func TestMemorySweep(t *testing.T) {
	m := NewMemory().(*memory)
	now := time.Unix(1000, 0)
	for i := range 1000 {
		now = now.Add(time.Second)
		r := Reservation{ID: strconv.Itoa(i), Windows: []Window{{Key: strconv.Itoa(i), Count: 1, Per: time.Second}}}
		if refusal, err := m.Reserve(t.Context(), r, now); err != nil || !refusal.Admitted() {
			t.Fatalf("Reserve %d = %v, %v", i, refusal, err)
		}
	}
	if len(m.taken) > 3 || len(m.byID) != len(m.taken) {
		t.Errorf("after 1000 reservations, %d keys and %d IDs are kept", len(m.taken), len(m.byID))
	}
}
