package governor

import "testing"

func TestNear(t *testing.T) {
	names := []string{"send_mail", "find_orders", "find_order", "refund", "ab"}
	for name, want := range map[string]string{
		"find_ordr": "find_order", "find_ordre": "find_order", "find_orderss": "find_orders", "sendmail": "send_mail",
		"Refund": "refund", "refnud": "refund", "find_order": "find_order", "a": "", "ba": "", "drop_tables": "", "": "",
		"finder": "",
	} {
		if got := near(name, append([]string{}, names...), func(string) bool { return true }); got != want {
			t.Errorf("near(%q) = %q, want %q", name, got, want)
		}
	}
	if got := near("find_ordr", names, func(name string) bool { return name != "find_order" }); got != "find_orders" {
		t.Errorf("a name that may not be told is told, or none: %q", got)
	}
}
