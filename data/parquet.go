package data

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/scorekit/lab/scorekit"
)

// parquetBlock is how many rows are decoded at once: the columns lie apart.
const parquetBlock = 1024

// parquetFile is a sequence of rows, row group after row group.
type parquetFile struct {
	path    string
	names   []string
	pick    []int
	label   int
	leaf    []int                         // where the columns are among those of all depths
	numbers []func(parquet.Value) float64 // for each column, nil where it is text
	classes *classList
}

func (f *File) openParquet() error {
	p := &parquetFile{path: f.Path}
	file, opened, err := p.file()
	if err != nil {
		return err
	}
	defer file.Close()
	var problems []error // of each column
	for _, field := range opened.Root().Columns() {
		number, err := parquetNumber(field)
		p.names, p.leaf, p.numbers = append(p.names, field.Name()), append(p.leaf, field.Index()), append(p.numbers, number)
		problems = append(problems, err)
	}
	if p.pick, p.label, err = f.settings.pickColumns(p.names, len(p.names)); err != nil {
		return err
	}
	for _, j := range p.pick {
		if problems[j] != nil {
			return fmt.Errorf("%s %w: leave it out with WithoutColumns or take others with WithColumns", columnName(j, p.names), problems[j])
		}
	}
	f.Columns, f.width, f.fileRows, f.sequence = namesOf(p.pick, p.names), len(p.pick), int(opened.NumRows()), p
	if f.fileRows == 0 {
		return errNoRows
	}
	if p.classes, err = newClassList(f.settings.classes); err != nil || p.label < 0 {
		return err
	}
	if problems[p.label] != nil && !errors.Is(problems[p.label], errText) {
		return fmt.Errorf("WithLabels: %s %w", columnName(p.label, p.names), problems[p.label])
	}
	if p.classes.collecting {
		if err := f.collectClasses(); err != nil {
			return err
		}
	}
	f.ClassNames = p.classes.names
	return nil
}

var errText = errors.New("holds text, not numbers")

// parquetNumber returns how a value of the column becomes a number, or why it cannot.
func parquetNumber(column *parquet.Column) (func(parquet.Value) float64, error) {
	if !column.Leaf() || column.Repeated() {
		return nil, errors.New("is nested: it has more than one value a row")
	}
	unsigned := false
	kind := column.Type()
	if logical := kind.LogicalType(); logical != nil {
		switch of := logical.Value.(type) {
		case *format.IntType:
			unsigned = !of.IsSigned
		case *format.StringType, *format.EnumType, *format.JsonType:
			return nil, errText
		case nil, *format.NullType:
		default:
			return nil, fmt.Errorf("holds values of type %s, not plain numbers", kind)
		}
	}
	if converted := kind.ConvertedType(); converted != nil {
		switch *converted {
		case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
			unsigned = true
		case deprecated.Decimal, deprecated.Date, deprecated.TimeMillis, deprecated.TimeMicros, deprecated.TimestampMillis, deprecated.TimestampMicros:
			return nil, fmt.Errorf("holds values of type %s, not plain numbers", kind)
		}
	}
	switch kind.Kind() {
	case parquet.Boolean:
		return func(v parquet.Value) float64 {
			if v.Boolean() {
				return 1
			}
			return 0
		}, nil
	case parquet.Int32:
		if unsigned {
			return func(v parquet.Value) float64 { return float64(v.Uint32()) }, nil
		}
		return func(v parquet.Value) float64 { return float64(v.Int32()) }, nil
	case parquet.Int64:
		if unsigned {
			return func(v parquet.Value) float64 { return float64(v.Uint64()) }, nil
		}
		return func(v parquet.Value) float64 { return float64(v.Int64()) }, nil
	case parquet.Float:
		return func(v parquet.Value) float64 { return float64(v.Float()) }, nil
	case parquet.Double:
		return func(v parquet.Value) float64 { return v.Double() }, nil
	case parquet.ByteArray:
		return nil, errText
	}
	return nil, fmt.Errorf("holds values of type %s, not plain numbers", kind)
}

// file opens the file and reads its directory, which is at the end.
func (p *parquetFile) file() (file *os.File, opened *parquet.File, err error) {
	if file, err = os.Open(p.path); err != nil {
		return nil, nil, plainError(err)
	}
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("%v", broken)
		}
		if err != nil {
			file.Close()
			err = fmt.Errorf("damaged or cut off Parquet (%w): copy or save it again", err)
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return file, nil, plainError(err)
	}
	if err := checkDirectory(file, info.Size()); err != nil {
		return file, nil, err
	}
	opened, err = parquet.OpenFile(file, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	return file, opened, err
}

// checkDirectory returns an error where the file says that its directory is longer than itself: parquet makes room for as much as
// is said before it reads any. The last eight bytes are the length, little-endian, and a mark.
func checkDirectory(file io.ReaderAt, size int64) error {
	var end [8]byte
	if _, err := file.ReadAt(end[:], max(0, size-int64(len(end)))); err != nil {
		return plainError(err)
	}
	if length := int64(binary.LittleEndian.Uint32(end[:])); length > size-int64(len(end)) {
		return fmt.Errorf("a directory of %d bytes in a file of %d", length, size)
	}
	return nil
}

func (p *parquetFile) labels() *classList { return p.classes }

func (p *parquetFile) open() (cursor, error) {
	file, opened, err := p.file()
	if err != nil {
		return nil, err
	}
	at := &parquetCursor{parquetFile: p, file: file, groups: opened.RowGroups(), columns: make([]parquetColumn, len(p.pick))}
	for k := range at.columns {
		at.columns[k].numbers = make([]float64, parquetBlock)
	}
	at.read = make([]parquet.Value, parquetBlock)
	return at, nil
}

// parquetCursor is a place between two rows.
type parquetCursor struct {
	*parquetFile
	file    *os.File
	groups  []parquet.RowGroup // that are still to be begun
	left    int                // rows of the current group that are not in the block
	columns []parquetColumn
	class   parquetColumn
	classOf [parquetBlock]int32
	read    []parquet.Value
	rows    int // in the block
	at      int // the next of them
	done    int // rows before the block
}

// parquetColumn is a place in a column of a row group, and its values in the block.
type parquetColumn struct {
	pages   parquet.Pages
	page    parquet.Page
	values  parquet.ValueReader
	numbers []float64
}

func (at *parquetCursor) next(x []float64) (int32, error) {
	if at.at == at.rows {
		if err := at.fill(); err != nil {
			return 0, err
		}
	}
	if x != nil {
		for k := range at.columns {
			x[k] = at.columns[k].numbers[at.at]
		}
	}
	at.at++
	if at.label < 0 {
		return scorekit.NoClass, nil
	}
	return at.classOf[at.at-1], nil
}

// fill reads the next block.
func (at *parquetCursor) fill() (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("damaged Parquet after row %d (%v): copy or save it again", at.done, broken)
		}
	}()
	at.done += at.rows
	at.rows, at.at = 0, 0
	for at.left == 0 {
		if len(at.groups) == 0 {
			return io.EOF
		}
		at.closeColumns()
		group := at.groups[0]
		at.groups, at.left = at.groups[1:], int(group.NumRows())
		chunks := group.ColumnChunks()
		for k, j := range at.pick {
			at.columns[k].pages = chunks[at.leaf[j]].Pages()
		}
		if at.label >= 0 {
			at.class.pages = chunks[at.leaf[at.label]].Pages()
		}
	}
	rows := min(at.left, parquetBlock)
	for k, j := range at.pick {
		column, number := &at.columns[k], at.numbers[j]
		err := column.take(at.read[:rows], func(i int, v parquet.Value) error {
			if column.numbers[i] = math.NaN(); !v.IsNull() {
				column.numbers[i] = number(v)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("after row %d, %s: %w: copy or save it again", at.done, columnName(j, at.names), err)
		}
	}
	if at.label >= 0 {
		err := at.class.take(at.read[:rows], func(i int, v parquet.Value) (err error) {
			switch {
			case v.IsNull():
				at.classOf[i] = scorekit.NoClass
			case at.numbers[at.label] != nil:
				at.classOf[i], err = at.classes.ofNumber(at.numbers[at.label](v))
			default:
				at.classOf[i], err = at.classes.of(string(v.ByteArray()))
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("after row %d, %s: %w", at.done, columnName(at.label, at.names), err)
		}
	}
	at.rows = rows
	at.left -= rows
	return nil
}

// take gives as many values of the column as buffer holds.
func (c *parquetColumn) take(buffer []parquet.Value, each func(i int, v parquet.Value) error) error {
	for taken := 0; taken < len(buffer); {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err == io.EOF {
				return io.ErrUnexpectedEOF
			}
			if err != nil {
				return err
			}
			c.page, c.values = page, page.Values()
		}
		n, err := c.values.ReadValues(buffer[taken:])
		for i := taken; i < taken+n; i++ {
			if err := each(i, buffer[i]); err != nil {
				return err
			}
		}
		taken += n
		if err == io.EOF {
			c.endPage()
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (c *parquetColumn) endPage() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.page, c.values = nil, nil
}

func (c *parquetColumn) close() {
	c.endPage()
	if c.pages != nil {
		c.pages.Close()
		c.pages = nil
	}
}

func (at *parquetCursor) closeColumns() {
	for k := range at.columns {
		at.columns[k].close()
	}
	at.class.close()
}

func (at *parquetCursor) place(k int) string {
	j := at.label
	if k >= 0 {
		j = at.pick[k]
	}
	return fmt.Sprintf("row %d, %s", at.done+at.at, columnName(j, at.names))
}

func (at *parquetCursor) close() error {
	at.closeColumns()
	return at.file.Close()
}
