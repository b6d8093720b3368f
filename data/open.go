package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
)

// Format is a kind of file that [Open] reads.
type Format string

// The formats. CSV stands for values parted by commas, semicolons or blanks; TSV for tabs.
const (
	CSV         Format = "CSV"
	TSV         Format = "TSV"
	Parquet     Format = "Parquet"
	NPY         Format = "NPY"
	NPZ         Format = "NPZ"
	IDX         Format = "IDX"
	ImageFolder Format = "image folder"
)

// Open opens a data set of one's own for training. What the path holds is told from its content, not from its name:
//
//   - CSV or TSV, also compressed by gzip: one example a line. Parts are told by the first line: tabs, else semicolons,
//     else commas, else blanks. A header, quoted fields, a byte order mark, either line end and lines that start with # are
//     understood;
//   - Parquet: one example a row; columns of numbers or truth values;
//   - NPY: the first axis counts the examples. [n, h, w] and [n, h, w, c] with c 1 or 3 are images;
//   - NPZ: one of its arrays, read into memory;
//   - IDX (the format of MNIST), also compressed by gzip, which is then read into memory;
//   - a folder of PNG and JPEG images, at any depth. The size is that of the first, and all must have it, unless
//     [WithSize] or [WithCrop] is given. They are grey if the first is. What is transparent lies on white; the
//     orientation that a camera noted is not applied.
//
// Numbers keep their values: pixels are 0 to 255 in all formats. Opening reads only as much as it needs to know the
// shape, the classes ([WithLabels]) and, in an array, the rows to leave out ([WithMissingDropped]); the rest is read by
// [File.Set], all at once, or piece by piece by [File.Batches] and [File.Values].
//
// An error names the file, the line or element, and what to do about it: for what is missing, empty, cut off, of another
// format, or not made of numbers, for a column that is not there, and for an option that does not fit the format.
func Open(path string, options ...OpenOption) (*File, error) {
	var s openSettings
	for _, option := range options {
		option(&s)
	}
	f := &File{Path: path, fileRows: -1, settings: &s, cache: &passCache{}}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("data: %s: %w", path, err)
	}
	return f, nil
}

func (f *File) open() error {
	format, packed, err := detect(f.Path)
	if err != nil {
		return err
	}
	f.Format = format
	if err := f.settings.validate(format); err != nil {
		return err
	}
	switch format {
	case CSV, TSV:
		err = f.openCSV(packed)
	case Parquet:
		err = f.openParquet()
	case NPY:
		err = f.openNPY()
	case NPZ:
		err = f.openNPZ()
	case IDX:
		err = f.openIDX(packed)
	case ImageFolder:
		err = f.openImages()
	}
	if err != nil {
		return err
	}
	if err := f.openLabelFile(); err != nil {
		return err
	}
	return f.settle()
}

// settle checks what the formats have found out, the same for all.
func (f *File) settle() error {
	if want := f.settings.images; want != nil {
		f.Height, f.Width, f.Channels = want[0], want[1], want[2]
		if pixels := f.Height * f.Width * f.Channels; pixels != f.width {
			return fmt.Errorf("rows of %d values: images of %d×%d with %d channels have %d", f.width, f.Height, f.Width, f.Channels, pixels)
		}
	}
	if s := f.settings; f.ClassNames == nil && (s.label != "" || s.labelFile != "") {
		return fmt.Errorf("every label is missing: must be at least one")
	}
	f.Rows = f.fileRows
	if f.settings.drop {
		if err := f.findMissing(); err != nil {
			return err
		}
	}
	if f.Rows == 0 {
		return errNoRows
	}
	return nil
}

// detect tells the format from the content; packed is whether gzip wraps it.
func detect(path string) (format Format, packed bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		if os.IsNotExist(err) {
			return "", false, fmt.Errorf("no such file or folder: check the name")
		}
		return "", false, plainError(err)
	}
	if info.IsDir() {
		return ImageFolder, false, nil
	}
	if !info.Mode().IsRegular() {
		return "", false, fmt.Errorf("not a regular file: must be a file or a folder of images")
	}
	file, err := os.Open(path)
	if err != nil {
		return "", false, plainError(err)
	}
	defer file.Close()
	head, err := peek(file)
	if err != nil {
		return "", false, err
	}
	if packed = bytes.HasPrefix(head, []byte{0x1f, 0x8b}); packed {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return "", false, err
		}
		unpacked, err := gzip.NewReader(bufio.NewReader(file))
		if err != nil {
			return "", false, fmt.Errorf("damaged gzip (%w): copy it again", err)
		}
		if head, err = peek(unpacked); err != nil {
			return "", false, fmt.Errorf("damaged gzip (%w): copy it again", err)
		}
	}
	format, err = formatOf(head, path)
	if packed && err == nil && format != CSV && format != TSV && format != IDX {
		err = fmt.Errorf("%s inside gzip: unpack it first (gunzip)", format)
	}
	return format, packed, err
}

// peek reads the start of a file: enough to see the first line of nearly every CSV.
func peek(r io.Reader) ([]byte, error) {
	head := make([]byte, 1<<16)
	n, err := io.ReadFull(r, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF && n > 0 {
		err = nil
	}
	return head[:n], err
}

// formatOf tells the format from the first bytes of a file.
func formatOf(head []byte, path string) (Format, error) {
	starts := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case len(head) == 0:
		return "", fmt.Errorf("the file is empty: must hold at least one row")
	case starts("\x93NUMPY"):
		return NPY, nil
	case starts("PK\x03\x04"), starts("PK\x05\x06"):
		return NPZ, nil
	case starts("PAR1"):
		return Parquet, nil
	case starts("\x89PNG\r\n"), starts("\xff\xd8\xff"):
		return "", fmt.Errorf("a single image: name the folder of images that it is in")
	case starts("\x89HDF"):
		return "", fmt.Errorf("HDF5 is not read: save it as NPY or Parquet")
	case starts("\xff\xfe"), starts("\xfe\xff"):
		return "", fmt.Errorf("UTF-16 text: save it as UTF-8")
	case starts("\x00\x00"), bytes.IndexByte(head, 0) >= 0 && strings.Contains(strings.ToLower(path), "idx"):
		if err := checkIDXMagic(head); err != nil {
			return "", err
		}
		return IDX, nil
	case bytes.IndexByte(head, 0) >= 0:
		return "", fmt.Errorf("unknown format, it starts with bytes % x: must be CSV, TSV, Parquet, NPY, NPZ, IDX or a folder of images", head[:min(4, len(head))])
	}
	if bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(bytes.TrimRight(head, "\r"), '\r') >= 0 {
		return "", fmt.Errorf("lines end in carriage returns alone: save it with line feeds")
	}
	if delimiter(head) == '\t' {
		return TSV, nil
	}
	return CSV, nil
}

// plainError leaves out the path that an error of the operating system names: it is named before.
func plainError(err error) error {
	if inner, ok := err.(*os.PathError); ok {
		return inner.Err
	}
	return err
}
