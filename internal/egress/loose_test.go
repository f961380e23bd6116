package egress_test

import (
	"fmt"
	"strconv"
	"strings"
)

// looseIPv4 reads an IPv4 address as inet_aton does: one to four numbers,
// decimal, octal or hexadecimal, the last of which fills what is left.
func looseIPv4(s string) (string, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return "", false
	}
	var sum uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32)
		if err != nil || strings.Contains(part, "_") || strings.HasPrefix(part, "0b") || strings.HasPrefix(part, "0o") {
			return "", false
		}
		if i < len(parts)-1 {
			if n > 255 {
				return "", false
			}
			sum |= n << (24 - 8*i)
			continue
		}
		if n >= 1<<(8*(5-len(parts))) {
			return "", false
		}
		sum |= n
	}
	return fmt.Sprintf("%d.%d.%d.%d", sum>>24, sum>>16&255, sum>>8&255, sum&255), true
}
