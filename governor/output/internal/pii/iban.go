package pii

// ibanLengths are the lengths of the registry, by country.
var ibanLengths = map[string]int{
	"ad": 24, "ae": 23, "al": 28, "at": 20, "az": 28, "ba": 20, "be": 16, "bg": 22, "bh": 22, "bi": 27, "br": 29,
	"by": 28, "ch": 21, "cr": 22, "cy": 28, "cz": 24, "de": 22, "dj": 27, "dk": 18, "do": 28, "ee": 20, "eg": 29,
	"es": 24, "fi": 18, "fk": 18, "fo": 18, "fr": 27, "gb": 22, "ge": 22, "gi": 23, "gl": 18, "gr": 27, "gt": 28,
	"hn": 28, "hr": 21, "hu": 28, "ie": 22, "il": 23, "iq": 23, "is": 26, "it": 27, "jo": 30, "kw": 30, "kz": 20,
	"lb": 28, "lc": 32, "li": 21, "lt": 20, "lu": 20, "lv": 21, "ly": 25, "mc": 27, "md": 24, "me": 22, "mk": 19,
	"mn": 20, "mr": 27, "mt": 31, "mu": 30, "ni": 28, "nl": 18, "no": 15, "om": 23, "pk": 24, "pl": 28, "ps": 29,
	"pt": 25, "qa": 29, "ro": 24, "rs": 22, "ru": 33, "sa": 24, "sc": 31, "sd": 18, "se": 24, "si": 19, "sk": 24,
	"sm": 27, "so": 23, "st": 25, "sv": 28, "tl": 23, "tn": 24, "tr": 26, "ua": 29, "va": 22, "vg": 24, "xk": 20,
	"ye": 30,
}

// minIBANDigits is less than any bank's numbers have, with the check digits.
const minIBANDigits = 7

// iban takes an account number that starts at i: a country, as many characters
// as that country has, alone or in groups, and the right check digits.
func iban(text []byte, i int) int {
	if i+4 > len(text) || !isLetter(text[i]) || !isLetter(text[i+1]) || !isDigit(text[i+2]) || !isDigit(text[i+3]) {
		return 0
	}
	want := ibanLengths[string(text[i:i+2])]
	if want == 0 {
		return 0
	}
	var chars [34]byte
	n, digits, end := 0, 0, i
	for n < want && end < len(text) {
		c := text[end]
		switch {
		case isAlnum(c):
			chars[n] = c
			n++
			if isDigit(c) {
				digits++
			}
		case (c == ' ' || c == '-' || c == '.') && isAlnum(text[end-1]): // one between two groups
		default:
			return 0
		}
		end++
	}
	if n < want || digits < minIBANDigits || end < len(text) && isAlnum(text[end]) || !mod97(chars[:n]) {
		return 0
	}
	return end
}

// mod97 is the check of ISO 13616: the first four characters move to the end,
// letters count from ten, and one remains of dividing by 97.
func mod97(chars []byte) bool {
	rest := 0
	for k := range chars {
		c := chars[(k+4)%len(chars)]
		if isDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'a') + 10) % 97
		}
	}
	return rest == 1
}
