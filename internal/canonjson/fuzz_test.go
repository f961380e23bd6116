package canonjson

import "testing"

// FuzzCanonical holds the canonical form of arbitrary text against Python.
func FuzzCanonical(f *testing.F) {
	v := struct{ texts []string }{[]string{
		``, `null`, `[true,false]`, `{"b":[1,2.50,-0.0,1e2],"a":{"c":"é😀\ud83d\ude00\u007f</>"}}`, `{"a":1,"\u0061":2}`, `"\ud800"`,
		`[1e400,1e-400]`, `1e23`, `9007199254740993.0`, `[5e-324,1e-5,0.0001,123456789012345678901234567890]`, "\ufeff1", "\"\xff\"", `[NaN]`, `01`,
		`[[[[[[[[[[]]]]]]]]]]`, `{"":{"":{"":[]}}}`, `1 2`, `"\b\f\n\r\t\\\/\""`,
	}}
	for _, text := range v.texts {
		f.Add([]byte(text))
	}
	o := startOracle(f)
	f.Fuzz(func(t *testing.T, text []byte) { o.check(t, text) })
}

// FuzzNumber is the same for numbers, which arbitrary text rarely has.
func FuzzNumber(f *testing.F) {
	f.Add(false, uint64(0), uint64(0), int16(0), uint8(0))
	f.Add(true, uint64(1), uint64(5), int16(-7), uint8(3))
	f.Add(false, uint64(9007199254740993), uint64(0), int16(0), uint8(1))
	f.Add(false, uint64(17976931348623157), uint64(0), int16(292), uint8(2))
	o := startOracle(f)
	f.Fuzz(func(t *testing.T, negative bool, whole, frac uint64, exp int16, form uint8) {
		o.check(t, []byte(numberText(negative, whole, frac, exp, form)))
	})
}
