package canonjson

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// DigestPrefix starts every digest that [Digest] makes.
const DigestPrefix = "sha256:"

// Digest is the SHA-256 of the canonical text of v: [DigestPrefix] and 64
// lower-case hex digits.
func Digest(v any) (string, error) {
	text, err := Append(nil, v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return DigestPrefix + hex.EncodeToString(sum[:]), nil
}

// Append appends the canonical text of v, a tree as [Parse] gives it. A
// returned error is an *[Error]; dst is then returned as it was.
func Append(dst []byte, v any) ([]byte, error) {
	w := writer{out: dst}
	if err := w.value(v); err != nil {
		return dst, err
	}
	return w.out, nil
}

type writer struct {
	out []byte
}

func (w *writer) value(v any) *Error {
	switch v := v.(type) {
	case nil:
		w.out = append(w.out, "null"...)
	case bool:
		w.out = strconv.AppendBool(w.out, v)
	case int64:
		w.out = strconv.AppendInt(w.out, v, 10)
	case *big.Int:
		if v == nil {
			return refuse(Type, "a nil *big.Int")
		}
		w.out = v.Append(w.out, 10)
	case float64:
		return w.float(v)
	case string:
		return w.string(v)
	case []any:
		return w.array(v)
	case map[string]any:
		return w.object(v)
	default:
		return refuse(Type, fmt.Sprintf("a Go %T is not part of a JSON tree", v))
	}
	return nil
}

func (w *writer) float(f float64) *Error {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return refuse(Number, "NaN and the infinities are not JSON")
	case f == math.Trunc(f):
		w.out = append(w.out, integer(f)...)
	default:
		w.out = fraction(w.out, f)
	}
	return nil
}

func (w *writer) array(list []any) *Error {
	w.out = append(w.out, '[')
	for i, v := range list {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(v); err != nil {
			return err.below(strconv.Itoa(i))
		}
	}
	w.out = append(w.out, ']')
	return nil
}

func (w *writer) object(object map[string]any) *Error {
	// Go compares strings by byte, which for UTF-8 is by code point.
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	w.out = append(w.out, '{')
	for i, name := range names {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.string(name); err != nil {
			return err.below(name)
		}
		w.out = append(w.out, ':')
		if err := w.value(object[name]); err != nil {
			return err.below(name)
		}
	}
	w.out = append(w.out, '}')
	return nil
}

const hexDigits = "0123456789abcdef"

func (w *writer) string(s string) *Error {
	w.out = append(w.out, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c <= '~' {
			if c == '"' || c == '\\' {
				w.out = append(w.out, '\\')
			}
			w.out = append(w.out, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return refuse(Encoding, "a string that is not UTF-8")
		}
		w.escape(r)
		i += size
	}
	w.out = append(w.out, '"')
	return nil
}

func (w *writer) escape(r rune) {
	switch r {
	case '\n':
		w.out = append(w.out, `\n`...)
	case '\r':
		w.out = append(w.out, `\r`...)
	case '\t':
		w.out = append(w.out, `\t`...)
	case '\f':
		w.out = append(w.out, `\f`...)
	case '\b':
		w.out = append(w.out, `\b`...)
	default:
		if r > 0xffff {
			r -= 0x10000
			w.unit(0xd800 + r>>10)
			r = 0xdc00 + r&0x3ff
		}
		w.unit(r)
	}
}

func (w *writer) unit(r rune) {
	w.out = append(w.out, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

func refuse(code Code, reason string) *Error {
	return &Error{Code: code, Offset: -1, Reason: reason}
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// below puts the step to a value in front of the pointer within it.
func (e *Error) below(step string) *Error {
	e.Pointer = "/" + strings.ToValidUTF8(pointerEscape.Replace(step), "\ufffd") + e.Pointer
	return e
}
