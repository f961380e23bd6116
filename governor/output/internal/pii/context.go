package pii

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Context is what a key says about the values under it.
type Context uint8

// The parts of a Context.
const (
	CardKey Context = 1 << iota
	PhoneKey
	SSNKey
)

func (c Context) has(bit Context) bool { return c&bit != 0 }

var (
	phoneWords = words(`phone phones telephone telephones tel telefon telefone telefono teléfono teléfonos téléphone tél
		mobile mobil móvil celular cellphone cell handy fax hotline helpline mob whatsapp msisdn phonenumber mobilenumber landline
		телефон тел телефону телефона факс моб τηλέφωνο τηλ κινητό
		هاتف الهاتف تلفون جوال الجوال موبايل تلفن موبایل טלפון נייד פקס
		फ़ोन फोन फ़ोन मोबाइल दूरभाष ফোন মোবাইল தொலைபேசி
		电话 电话号码 手机 手机号 手机号码 電話 電話番号 携帯 携帯電話 手機 전화 전화번호 휴대폰 연락처 โทร โทรศัพท์ เบอร์โทร ტელეფონი მობილური հեռախոս`)
	cardWords = words(`card cards creditcard debitcard cardnumber cardno ccnumber ccnum cc pan visa mastercard amex maestro discover
		carte tarjeta cartão cartao carta karte kreditkarte kaart карта карты карту картой κάρτα
		بطاقة البطاقة כרטיס कार्ड কার্ড 卡号 卡 信用卡 信用卡号 カード カード番号 카드 카드번호 บัตร บัตรเครดิต ბარათი ბარათის அட்டை քարտ`)
	ssnWords     = words(`ssn ssns socialsecurity socialsecuritynumber security`)
	versionWords = words(`version versions ver v release build rev revision firmware oid section chapter`)
	fillers      = words(`number numbers no num nr nos is was numero número núm nummer numéro номер номеру رقم מספר नंबर নম্বর
		号码 號碼 番号 번호 my our at us the kontakt`)
	// notValue are words of keys that say something about a number, not what it is.
	notValue = words(`id ids uuid guid count total index idx type kind model code hash verified valid at ts time timestamp date
		created updated size bytes version length len ref reference key token status order os brand carrier last expiry exp
		expires month year limit balance`)
	// plain are keys under which the number of the key above them stands.
	plain = words(`number no num value raw home work main office primary secondary mobile personal business other e164 formatted national international digits`)
)

func words(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// Key gives the context of the values under a key. Above is the context that
// the key itself stands in. Placeholders in the key say nothing.
func Key(key string, above Context) Context {
	if len(key) > 128 {
		return 0
	}
	for _, p := range placeholders {
		key = strings.ReplaceAll(key, p, " ")
	}
	parts := split(key)
	var c Context
	allPlain := len(parts) > 0
	for _, w := range parts {
		if notValue[w] {
			return 0
		}
		switch {
		case phoneWords[w]:
			c |= PhoneKey
		case cardWords[w] && w != "discover":
			c |= CardKey
		case ssnWords[w] && w != "security":
			c |= SSNKey
		}
		allPlain = allPlain && plain[w]
	}
	if joined := strings.Join(parts, ""); ssnWords[joined] && joined != "security" {
		c |= SSNKey
	}
	if allPlain {
		c |= above
	}
	return c
}

// split gives the words of a key, in lower case: cardNumber, card_number and
// "Card number" are the same two.
func split(key string) []string {
	var parts []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			parts = append(parts, word.String())
			word.Reset()
		}
	}
	wasLower := false
	for _, r := range key {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r):
			flush()
			wasLower = false
			continue
		case unicode.IsUpper(r) && wasLower:
			flush()
		}
		wasLower = unicode.IsLower(r)
		word.WriteRune(unicode.ToLower(r))
	}
	flush()
	return parts
}

// called reports whether a word of set stands right in front of i, with at most
// three that say nothing ("number", "is") between them.
func (f *finder) called(i int, set map[string]bool) bool {
	for range 4 {
		end := f.skipPunctuation(i)
		if end < 0 {
			return false
		}
		start := wordStart(f.text, end)
		word := string(f.text[start:end])
		if word == "" {
			return false
		}
		if in(set, word) {
			return word != "security" || bytes.HasSuffix(f.text[:start], []byte("social "))
		}
		if !fillers[word] {
			return false
		}
		i = start
	}
	return false
}

// skipPunctuation goes back over what can stand between a name and its value.
// -1: there is too much, or something else.
func (f *finder) skipPunctuation(i int) int {
	for range 8 {
		if i == 0 {
			return -1
		}
		switch f.text[i-1] {
		case ' ', '\t', ':', '#', '=', '.', '"', '\'', '(', '+', '*', '_':
			i--
		default:
			for _, wide := range []string{"。", "№"} { // wide colons are ASCII in the view
				if bytes.HasSuffix(f.text[:i], []byte(wide)) {
					return i - len(wide)
				}
			}
			return i
		}
	}
	return -1
}

// wordStart gives where the word that ends at end starts; at most 48 bytes
// before it.
func wordStart(text []byte, end int) int {
	start := end
	for start > 0 && end-start < 48 {
		r, size := utf8.DecodeLastRune(text[:start])
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsMark(r) {
			break
		}
		start -= size
	}
	return start
}

// in reports whether word is in set; in a script that is written without
// spaces, whether it ends in a word of it.
func in(set map[string]bool, word string) bool {
	if set[word] {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(word)
	if !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) {
		return false
	}
	for i := range word {
		if set[word[i:]] {
			return true
		}
	}
	return false
}
