package typescript

import (
	"errors"
	"slices"
	"strings"
)

// mapping says that what stands at a place of the JavaScript, and behind it up
// to the next mapping, comes from a place of the source. Lines and columns are
// counted from 1, columns in UTF-16 code units.
type mapping struct {
	line, column             int
	sourceLine, sourceColumn int
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// readMappings reads the member "mappings" of a source map, version 3: lines
// between semicolons, places between commas, each with the difference of its
// numbers to those of the one before.
func readMappings(text string) ([]mapping, error) {
	var all []mapping
	var source, sourceLine, sourceColumn int
	for line, places := range strings.Split(text, ";") {
		column := 0
		for place := range strings.SplitSeq(places, ",") {
			if place == "" {
				continue
			}
			numbers, err := readNumbers(place)
			if err != nil {
				return nil, err
			}
			column += numbers[0]
			if len(numbers) < 4 {
				continue // code that comes from nowhere
			}
			source += numbers[1]
			sourceLine += numbers[2]
			sourceColumn += numbers[3]
			if source != 0 || sourceLine < 0 || sourceColumn < 0 || column < 0 {
				return nil, errors.New("a place outside of the source")
			}
			all = append(all, mapping{line + 1, column + 1, sourceLine + 1, sourceColumn + 1})
		}
	}
	return all, nil
}

// readNumbers reads numbers of 5 bits a digit, least significant first, with
// the sign in the lowest bit.
func readNumbers(text string) ([]int, error) {
	var numbers []int
	value, shift := 0, 0
	for i := range len(text) {
		digit := strings.IndexByte(digits, text[i])
		if digit < 0 || shift > 30 {
			return nil, errors.New("a number that is none")
		}
		value |= digit & 31 << shift
		if digit&32 != 0 {
			shift += 5
			continue
		}
		number := value >> 1
		if value&1 != 0 {
			number = -number
		}
		numbers = append(numbers, number)
		value, shift = 0, 0
	}
	if shift != 0 || len(numbers) == 0 {
		return nil, errors.New("a number that does not end")
	}
	return numbers, nil
}

// place gives where in the source a place of the JavaScript comes from.
func (p *Program) place(line, column int) (sourceLine, sourceColumn int, ok bool) {
	i, found := slices.BinarySearchFunc(p.mappings, mapping{line: line, column: column}, func(a, b mapping) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return a.column - b.column
	})
	if !found {
		i--
	}
	if i < 0 || p.mappings[i].line != line {
		// Code that begins before its first mapping; the next one is nearest.
		if i++; i >= len(p.mappings) {
			return 0, 0, false
		}
	}
	return p.mappings[i].sourceLine, p.mappings[i].sourceColumn, true
}
