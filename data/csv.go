package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/scorekit/lab/scorekit"
)

// maxLine bounds a line of a CSV, which the reader takes into memory.
const maxLine = 64 << 20

// csvFile is a sequence of lines.
type csvFile struct {
	path    string
	packed  bool
	comma   rune
	header  bool
	names   []string // of all columns, nil without a header
	pick    []int    // the columns of the values
	label   int      // that of the class, or −1
	classes *classList
}

// delimiter tells what parts the columns, by the first line that is not a comment. Blanks must be in the next as well: a
// single column may have a name of two words.
func delimiter(head []byte) rune {
	head = bytes.TrimPrefix(head, []byte(byteOrderMark))
	var first []byte
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		line = withoutQuoted(line)
		if first != nil {
			if !bytes.ContainsRune(line, ' ') {
				return ','
			}
			break
		}
		for _, mark := range "\t;," {
			if bytes.ContainsRune(line, mark) {
				return mark
			}
		}
		if first = line; !bytes.ContainsRune(line, ' ') {
			return ','
		}
	}
	if first != nil {
		return ' '
	}
	return ','
}

// withoutQuoted leaves out what is between quotes.
func withoutQuoted(line []byte) []byte {
	plain := []byte{}
	for i, piece := range bytes.Split(line, []byte{'"'}) {
		if i%2 == 0 {
			plain = append(plain, piece...)
		}
	}
	return plain
}

const byteOrderMark = "\xef\xbb\xbf"

// openCSV reads the first lines, and all labels where the classes are to be found.
func (f *File) openCSV(packed bool) error {
	c := &csvFile{path: f.Path, packed: packed, label: -1}
	lines, err := c.lines()
	if err != nil {
		return err
	}
	defer lines.close()
	first, err := lines.csv.Read()
	if err == io.EOF {
		return fmt.Errorf("no lines with data: must have at least one row")
	}
	if err != nil {
		return lines.explain(err, nil)
	}
	count := len(first)
	if f.settings.header != nil {
		c.header = *f.settings.header
	} else {
		c.header = !hasNumber(first)
	}
	if c.header {
		for _, name := range first {
			c.names = append(c.names, strings.TrimSpace(strings.Clone(name)))
		}
	}
	if c.pick, c.label, err = f.settings.pickColumns(c.names, count); err != nil {
		return err
	}
	f.Columns, f.width = namesOf(c.pick, c.names), len(c.pick)
	f.sequence = c
	if c.classes, err = newClassList(f.settings.classes); err != nil {
		return err
	}
	if c.label >= 0 && c.classes.collecting {
		if err := f.collectClasses(); err != nil {
			return err
		}
	}
	if c.label >= 0 {
		f.ClassNames = c.classes.names
	}
	return f.tryFirstRow()
}

// hasNumber tells whether a field of the line is a number, so that it is no header.
func hasNumber(line []string) bool {
	for _, field := range line {
		if v, err := parseNumber(field); err == nil && !math.IsNaN(v) {
			return true
		}
	}
	return false
}

// tryFirstRow finds at once what is wrong with all rows.
func (f *File) tryFirstRow() error {
	at, err := f.sequence.open()
	if err != nil {
		return err
	}
	defer at.close()
	if _, err = at.next(make([]float64, f.width)); err == io.EOF {
		return errNoRows
	}
	return err
}

// collectClasses passes over a sequence once to find all labels.
func (f *File) collectClasses() error {
	at, err := f.sequence.open()
	if err != nil {
		return err
	}
	defer at.close()
	n := 0
	for ; ; n++ {
		if _, err := at.next(nil); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	f.sequence.labels().settle()
	f.fileRows = n
	return nil
}

func (c *csvFile) labels() *classList { return c.classes }

func (c *csvFile) open() (cursor, error) {
	at, err := c.lines()
	if err != nil || !c.header {
		return at, err
	}
	if _, err := at.csv.Read(); err != nil {
		at.close()
		return nil, at.explain(err, nil)
	}
	return at, nil
}

// lines opens the file before its first line.
func (c *csvFile) lines() (*csvCursor, error) {
	file, err := os.Open(c.path)
	if err != nil {
		return nil, plainError(err)
	}
	at := &csvCursor{csvFile: c, file: file}
	var r io.Reader = file
	if c.packed {
		unpacked, err := gzip.NewReader(bufio.NewReaderSize(file, 1<<16))
		if err != nil {
			file.Close()
			return nil, fmt.Errorf("damaged gzip (%w): copy it again", err)
		}
		r = unpacked
	}
	buffered := bufio.NewReaderSize(&lineGuard{r: r}, 1<<18)
	if mark, _ := buffered.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		buffered.Discard(len(byteOrderMark))
	}
	if c.comma == 0 {
		head, err := buffered.Peek(1 << 16)
		if err != nil && err != io.EOF {
			file.Close()
			return nil, plainError(err)
		}
		c.comma = delimiter(head)
	}
	at.csv = csv.NewReader(buffered)
	at.csv.Comma, at.csv.Comment, at.csv.ReuseRecord = c.comma, '#', true
	at.csv.TrimLeadingSpace = c.comma == ' ' // several blanks part as one does
	return at, nil
}

// csvCursor is a place between two lines.
type csvCursor struct {
	*csvFile
	file *os.File
	csv  *csv.Reader
}

func (at *csvCursor) next(x []float64) (int32, error) {
	fields, err := at.csv.Read()
	if err != nil {
		if err == io.EOF {
			return 0, err
		}
		return 0, at.explain(err, fields)
	}
	class := int32(scorekit.NoClass)
	if at.label >= 0 {
		if class, err = at.classes.of(fields[at.label]); err != nil {
			return 0, fmt.Errorf("%s: %w", at.place(-1), err)
		}
	}
	if x == nil {
		return class, nil
	}
	for k, j := range at.pick {
		if x[k], err = parseNumber(fields[j]); err != nil {
			return 0, fmt.Errorf("%s: %w: correct it, leave the column out with WithoutColumns, or take others with WithColumns", at.place(k), err)
		}
	}
	return class, nil
}

func (at *csvCursor) place(k int) string {
	j := at.label
	if k >= 0 {
		j = at.pick[k]
	}
	line, _ := at.csv.FieldPos(j)
	return fmt.Sprintf("line %d, %s", line, columnName(j, at.names))
}

func (at *csvCursor) close() error { return at.file.Close() }

// explain says what is wrong with a line and where.
func (at *csvCursor) explain(err error, fields []string) error {
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse) && errors.Is(err, csv.ErrFieldCount):
		return fmt.Errorf("line %d has %s, the first line has %d: every line must have as many", parse.StartLine, plural(len(fields), "field"), at.csv.FieldsPerRecord)
	case errors.As(err, &parse):
		return fmt.Errorf("line %d, character %d: %w: put the field in quotes and double the quotes in it", parse.Line, parse.Column, parse.Err)
	case errors.Is(err, errLongLine):
		return err
	case at.packed:
		return fmt.Errorf("damaged gzip (%w) at byte %d of the text: copy it again", err, at.csv.InputOffset())
	}
	return plainError(err)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// parseNumber returns the number in a field, NaN if it is missing, an infinity if it is too large.
func parseNumber(field string) (float64, error) {
	v, err := strconv.ParseFloat(field, 64)
	if err == nil {
		return v, nil
	}
	trimmed := strings.TrimSpace(field)
	if isMissing(trimmed) {
		return math.NaN(), nil
	}
	if v, err = strconv.ParseFloat(trimmed, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return v, nil
	}
	if _, err := strconv.ParseFloat(strings.ReplaceAll(trimmed, ",", ""), 64); err == nil {
		return 0, fmt.Errorf("%q is not a number (write decimal points, and no commas)", shortened(trimmed))
	}
	return 0, fmt.Errorf("%q is not a number", shortened(trimmed))
}

func shortened(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

var errLongLine = fmt.Errorf("a line of more than %d MiB: must be lines of numbers", maxLine>>20)

// lineGuard ends reading at a line that is too long.
type lineGuard struct {
	r    io.Reader
	line int // bytes since the last line feed
}

func (g *lineGuard) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	if i := bytes.LastIndexByte(p[:n], '\n'); i >= 0 {
		g.line = n - i - 1
	} else if g.line += n; g.line > maxLine {
		return n, errLongLine
	}
	return n, err
}
