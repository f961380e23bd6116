package rows

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"
)

// workbook is an .xlsx file: XML documents in a zip archive.
type workbook struct {
	b       *builder
	files   map[string]*zip.File
	left    int64 // bytes that may still be unpacked
	strings []string
	dates   []dateStyle // by style of a cell
	from    int64       // 1970-01-01 as Excel counts days
	old1900 bool        // days are counted with a 29th of February 1900
}

// maxParts is how many documents an archive may have.
const maxParts = 10_000

// What a document may have at once: its reader holds some sixty bytes for each
// element that is open and for each attribute, which take three or four in the
// document, and next to nothing in the archive.
const (
	maxOpen       = 256
	maxAttributes = 1000
	maxToken      = 512 << 10 // bytes; a cell has 32,767 characters at most
	// maxElements is how many elements a document may have that is read as a whole.
	maxElements = 1 << 20
)

// readExcel reads one sheet: the first, or the one that the options name.
func (b *builder) readExcel(text string) error {
	archive, err := zip.NewReader(readerOf(text), int64(len(text)))
	if err != nil {
		return damaged(b.opts, Excel, err)
	}
	if len(archive.File) > maxParts {
		return damaged(b.opts, Excel, fmt.Errorf("the archive has %d files", len(archive.File)))
	}
	w := &workbook{b: b, files: make(map[string]*zip.File), left: 4 * b.opts.MaxBytes}
	for _, f := range archive.File {
		w.files[strings.TrimPrefix(f.Name, "/")] = f
	}
	sheet, err := w.findSheet()
	if err == nil {
		err = w.readStrings()
	}
	if err == nil {
		err = w.readStyles()
	}
	if err == nil {
		err = w.readSheet(sheet)
	}
	if err != nil {
		return damaged(b.opts, Excel, err)
	}
	return nil
}

// limited counts what is unpacked, of all documents together and of one token.
type limited struct {
	r     io.Reader
	w     *workbook
	token int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.w.left <= 0 {
		return 0, tooLarge(l.w.b.opts, "unpacks to too many bytes")
	}
	if l.token > maxToken {
		return 0, &Error{Name: l.w.b.opts.Name, Code: TooLarge, Reason: fmt.Sprintf("has a text or a tag of more than %d bytes", maxToken)}
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.w.left)])
	l.w.left -= int64(n)
	l.token += n
	return n, err
}

// tokens are those of a document, before a decoder keeps anything of them.
type tokens struct {
	r        *limited
	raw      *xml.Decoder
	open     int
	elements int // that may still come
}

// Token implements xml.TokenReader.
func (t *tokens) Token() (xml.Token, error) {
	t.r.token = 0
	token, err := t.raw.RawToken()
	switch e := token.(type) {
	case xml.StartElement:
		if len(e.Attr) > maxAttributes {
			return nil, fmt.Errorf("an element has %d attributes", len(e.Attr))
		}
		if t.open++; t.open > maxOpen {
			return nil, fmt.Errorf("a document nests deeper than %d", maxOpen)
		}
		if t.elements--; t.elements < 0 {
			return nil, errors.New("a document has too many elements")
		}
	case xml.EndElement:
		t.open--
	}
	return token, err
}

// open gives a document with up to so many elements; nil if there is none of the name.
func (w *workbook) open(name string, elements int) (*xml.Decoder, io.Closer, error) {
	f := w.files[name]
	if f == nil {
		return nil, nil, nil
	}
	r, err := f.Open()
	if err != nil {
		return nil, nil, err
	}
	l := &limited{r: r, w: w}
	return xml.NewTokenDecoder(&tokens{r: l, raw: xml.NewDecoder(l), elements: elements}), r, nil
}

// document reads a small document into a struct.
func (w *workbook) document(name string, into any) (found bool, err error) {
	d, closer, err := w.open(name, maxElements)
	if err != nil || d == nil {
		return false, err
	}
	defer closer.Close()
	return true, d.Decode(into)
}

// findSheet gives the name of the document that a sheet is in.
func (w *workbook) findSheet() (string, error) {
	var book struct {
		Properties struct {
			Date1904 bool `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name string `xml:"name,attr"`
			ID   string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
		} `xml:"sheets>sheet"`
	}
	found, err := w.document("xl/workbook.xml", &book)
	if err != nil {
		return "", err
	}
	if !found || len(book.Sheets) == 0 {
		return "", errors.New("there is no workbook in it")
	}
	w.from, w.old1900 = 25569, true
	if book.Properties.Date1904 {
		w.from, w.old1900 = 24107, false
	}
	at := -1
	var names []string
	for i, s := range book.Sheets {
		if at < 0 && (w.b.opts.Sheet == "" || s.Name == w.b.opts.Sheet) {
			at = i
		}
		names = append(names, strconv.Quote(s.Name))
	}
	if at < 0 {
		return "", &Error{Name: w.b.opts.Name, Code: Unreadable, Reason: fmt.Sprintf("has no sheet %q; there are %.500s", w.b.opts.Sheet, strings.Join(names, ", "))}
	}
	var links struct {
		Links []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	if _, err := w.document("xl/_rels/workbook.xml.rels", &links); err != nil {
		return "", err
	}
	for _, l := range links.Links {
		if l.ID == book.Sheets[at].ID {
			if rest, ok := strings.CutPrefix(l.Target, "/"); ok {
				return rest, nil
			}
			return path.Join("xl", l.Target), nil
		}
	}
	return "", errors.New("a sheet is not in it")
}

// readStrings reads the texts that cells share.
func (w *workbook) readStrings() error {
	d, closer, err := w.open("xl/sharedStrings.xml", math.MaxInt)
	if err != nil || d == nil {
		return err
	}
	defer closer.Close()
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if start, ok := t.(xml.StartElement); ok && start.Name.Local == "si" {
			text, err := richText(d)
			if err != nil {
				return err
			}
			if len(w.strings) >= w.b.opts.MaxCells {
				return w.b.tooManyCells()
			}
			w.strings = append(w.strings, text)
		}
	}
}

// richText reads the text of an element, whatever its parts look like. How it is
// pronounced is no part of it.
func richText(d *xml.Decoder) (string, error) {
	var text strings.Builder
	inside, silent, depth := false, 0, 0
	for {
		t, err := d.Token()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.StartElement:
			depth++
			inside = t.Name.Local == "t"
			if t.Name.Local == "rPh" || silent > 0 {
				silent++
			}
		case xml.EndElement:
			if depth == 0 {
				return unescape(text.String()), nil
			}
			depth--
			inside = false
			if silent > 0 {
				silent--
			}
		case xml.CharData:
			if inside && silent == 0 {
				text.Write(t)
			}
		}
	}
}

// unescape reads _x000D_, which is how characters are written that XML does not
// have.
func unescape(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, "_x")
		if i < 0 || i+7 > len(s) {
			b.WriteString(s)
			return b.String()
		}
		n, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
		if err != nil || s[i+6] != '_' || n >= 0xD800 && n < 0xE000 {
			b.WriteString(s[:i+2])
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		b.WriteRune(rune(n))
		s = s[i+7:]
	}
}
