package pii

import (
	"strings"
	"testing"

	"github.com/mayfly-run/mayfly/governor/output/internal/span"
)

// redacted gives text as it is after one round.
func redacted(text string, context Context) string {
	return span.Replace(text, Find(text, context))
}

// Where something begins and ends: each side by side with what is nearly it.
func TestBorders(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"dots around", "..a@example.com..", "..[EMAIL].."},
		{"top level of one letter", "a@example.c", "a@example.c"},
		{"digits for a top level", "a@example.com.12", "[EMAIL].12"},
		{"hyphens around a label", "a@-example.com-", "[EMAIL]-"},
		{"two at signs", "a@b.example@c.example", "[EMAIL]@c.example"},
		{"right behind an ideograph", "寄a@example.com给", "寄[EMAIL]给"},
		{"a quote that never closes", `"a@example.com`, `"[EMAIL]`},
		{"bracketed, but no address", "a@[x.y.z.1234]", "a@[x.y.z.1234]"},
		{"a percent sign that escapes", "to%20jo%40example.com", "to%20[EMAIL]"},
		{"an HTML escape", "jo&#64;example&#46;com!", "[EMAIL]!"},
		{"a JSON escape", `{\"m\":\"jo\u0040example.com\"}`, `{\"m\":\"[EMAIL]\"}`},

		{"seventeen digits", "41111111111111111", "41111111111111111"},
		{"grouped, with a digit behind", "4111 1111 1111 11111", "4111 1111 1111 11111"},
		{"grouped, letter behind", "4111 1111 1111 1111x", "[CARD]x"},
		{"mixed separators", "4111 1111-1111 1111", "4111 1111-1111 1111"},
		{"five groups by hyphens", "4111-1111-1111-1111-1111", "4111-1111-1111-1111-1111"},
		{"two spaces", "4111  1111  1111  1111", "4111  1111  1111  1111"},
		{"two cards", "4111 1111 1111 1111 5555 5555 5555 4444", "[CARD] [CARD]"},
		{"card word too far away", "card for the garden: 4111111111111111", "card for the garden: 4111111111111111"},
		{"card word on the line before", "card\n4111111111111111", "card\n4111111111111111"},

		{"long row", strings.Repeat("12 ", 200) + "+1 415 555 0132", strings.Repeat("12 ", 200) + "[PHONE]"},
		{"many digits", strings.Repeat("7", 5000), strings.Repeat("7", 5000)},
		{"plus behind a letter", "x+14155550132", "x+14155550132"},
		{"sixteen digits", "+1234567890123456", "+1234567890123456"},
		{"an item count behind", "+44 20 7946 0958 2 items", "[PHONE] 2 items"},
		{"next sentence", "Call +44 20 7946 0958. 2 items", "Call [PHONE]. 2 items"},
		{"twelve digits in North America", "+1 415 555 01329", "+1 415 555 01329"},
		{"area code below 200", "115-555-0132", "115-555-0132"},
		{"extension", "415-555-0132 ext. 12 or so", "[PHONE] or so"},
		{"date called phone", "phone 2026-08-12", "phone 2026-08-12"},
		{"four fillers", "phone number is is is 5550132", "phone number is is is 5550132"},

		{"port and prefix", "192.0.2.1:80 192.0.2.0/24", "[IP]:80 [IP]/24"},
		{"leading zeros", "192.000.002.001", "192.000.002.001"},
		{"five numbers", "192.0.2.1.5", "192.0.2.1.5"},
		{"range", "192.0.2.1-192.0.2.9", "[IP]-[IP]"},
		{"range of one number", "192.0.2.1-9", "192.0.2.1-9"},
		{"loopback", "127.0.0.1 ::1 127.8.8.8", "127.0.0.1 ::1 127.8.8.8"},
		{"IPv6 at the end of a sentence", "is 2001:db8::7. And", "is [IP]. And"},
		{"IPv6 and a colon", "2001:db8::7: up", "[IP]: up"},
		{"nine groups", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8:9"},

		{"IBAN with a character more", "DE893704004405320130001", "DE893704004405320130001"},
		{"IBAN with one less", "DE8937040044053201300", "DE8937040044053201300"},
		{"IBAN, wrong check digits", "DE88 3704 0044 0532 0130 00", "DE88 3704 0044 0532 0130 00"},
		{"IBAN of no country", "ZZ89370400440532013000", "ZZ89370400440532013000"},
		{"IBAN behind a letter", "xDE89370400440532013000", "xDE89370400440532013000"},
		{"IBAN, two spaces", "DE89  3704  0044  0532  0130  00", "DE89  3704  0044  0532  0130  00"},

		{"SSN in a longer number", "1-123-45-6789", "1-123-45-6789"},
		{"SSN and more", "123-45-6789-1", "123-45-6789-1"},
		{"SSN behind a letter", "x123-45-6789", "x123-45-6789"},

		{"side by side", "a@example.com,b@example.com;192.0.2.1", "[EMAIL],[EMAIL];[IP]"},
		{"tags", "x\U000e0061\U000e0040\U000e0062\U000e002e\U000e0063\U000e006f\U000e006dy", "x[EMAIL]y"},
		{"tags without an address", "x\U000e0061\U000e0062y", "x\U000e0061\U000e0062y"},
	}
	for _, tt := range tests {
		if got := redacted(tt.text, 0); got != tt.want {
			t.Errorf("%s: %.60q became %.60q, want %.60q", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestContext(t *testing.T) {
	tests := []struct {
		text    string
		context Context
		want    string
	}{
		{"4155550132", 0, "4155550132"},
		{"4155550132", PhoneKey, "[PHONE]"},
		{"415 555 0132", PhoneKey, "[PHONE]"},
		{"123456", PhoneKey, "123456"},
		{"2026-08-12", PhoneKey, "2026-08-12"},
		{"12.3456789", PhoneKey, "12.3456789"},
		{"4111111111111111", CardKey, "[CARD]"},
		{"4111111111111112", CardKey, "4111111111111112"},
		{"41111111 11111111", CardKey, "[CARD]"},
		{"41111111 11111111", 0, "41111111 11111111"},
		{"123456789", SSNKey, "[SSN]"},
		{"000456789", SSNKey, "000456789"},
		{"123456789", CardKey, "123456789"},
	}
	for _, tt := range tests {
		if got := redacted(tt.text, tt.context); got != tt.want {
			t.Errorf("%q in context %b became %q, want %q", tt.text, tt.context, got, tt.want)
		}
	}
}

func TestKey(t *testing.T) {
	tests := []struct {
		key   string
		above Context
		want  Context
	}{
		{"phone", 0, PhoneKey},
		{"phoneNumber", 0, PhoneKey},
		{"home_phone", 0, PhoneKey},
		{"Mobile-No", 0, PhoneKey},
		{"телефон", 0, PhoneKey},
		{"电话", 0, PhoneKey},
		{"phone_id", 0, 0},
		{"phoneVerifiedAt", 0, 0},
		{"microphone", 0, 0},
		{"cardNumber", 0, CardKey},
		{"credit_card", 0, CardKey},
		{"card_type", 0, 0},
		{"discover", 0, 0},
		{"ssn", 0, SSNKey},
		{"socialSecurityNumber", 0, SSNKey},
		{"security", 0, 0},
		{"number", PhoneKey, PhoneKey},
		{"home", PhoneKey, PhoneKey},
		{"note", PhoneKey, 0},
		{"id", PhoneKey, 0},
		{"number", 0, 0},
		{"[PHONE]", 0, 0},
		{"[PHONE]#2", 0, 0},
		{"", PhoneKey, 0},
		{"id", 0, 0},
		{strings.Repeat("phone ", 100), 0, 0},
	}
	for _, tt := range tests {
		if got := Key(tt.key, tt.above); got != tt.want {
			t.Errorf("Key(%.20q, %b) = %b, want %b", tt.key, tt.above, got, tt.want)
		}
	}
}

// Every digit counts: changing one makes a check sum wrong.
func TestCheckSums(t *testing.T) {
	const card, account = "4111111111111111", "de89370400440532013000"
	if !luhn([]byte(card)) || !mod97([]byte(account)) {
		t.Fatal("the right ones are wrong")
	}
	for i := range card {
		b := []byte(card)
		b[i] = '0' + (b[i]-'0'+1)%10
		if luhn(b) {
			t.Errorf("luhn takes %s", b)
		}
	}
	for i := 2; i < len(account); i++ {
		b := []byte(account)
		b[i] = '0' + (b[i]-'0'+1)%10
		if mod97(b) {
			t.Errorf("mod97 takes %s", b)
		}
	}
}
