package data

import (
	"fmt"
	"math"
)

// OpenOption changes how [Open] reads. An option that means nothing for the format at hand is an error, not ignored.
type OpenOption func(*openSettings)

// openSettings is what the options of Open say. used names the options given, for the check against the format.
type openSettings struct {
	used []string

	columns, without []string
	label, labelFile string
	folderLabels     bool
	classes          []string
	header           *bool
	drop             bool
	array            string
	height, width    int // of images to be made
	crop             bool
	grey, colour     bool
	images           []int // height, width, channels that rows are said to have
	shuffle          int
	float64          bool

	labelsOnly bool // a label file: no columns for values
}

// WithColumns takes only these columns, in this order, by name or by number counted from 1.
func WithColumns(columns ...string) OpenOption {
	return func(s *openSettings) { s.use("WithColumns"); s.columns = append(s.columns, columns...) }
}

// WithoutColumns leaves these columns out, by name or by number counted from 1.
func WithoutColumns(columns ...string) OpenOption {
	return func(s *openSettings) { s.use("WithoutColumns"); s.without = append(s.without, columns...) }
}

// WithLabels says which column holds the class of each row, by name or by number counted from 1; it is then none of
// the values. In an NPZ it may be the name of another array, one number a row.
//
// Classes are numbered from 0. Labels that are whole numbers from 0 are those numbers; other labels, numbers or text,
// are numbered in sorted order, and [File].ClassNames names them. A CSV or Parquet file is read once for this when it is
// opened, unless [WithClasses] tells the classes.
func WithLabels(column string) OpenOption {
	return func(s *openSettings) { s.use("WithLabels"); s.label = column }
}

// WithLabelFile reads the class of each row from another file of one column and as many rows: IDX, NPY, CSV or Parquet.
func WithLabelFile(path string) OpenOption {
	return func(s *openSettings) { s.use("WithLabelFile"); s.labelFile = path }
}

// WithFolderLabels makes each folder directly in a folder of images a class, numbered from 0 by name.
func WithFolderLabels() OpenOption {
	return func(s *openSettings) { s.use("WithFolderLabels"); s.folderLabels = true }
}

// WithClasses tells the classes, numbered from 0 as given; another label in the file is an error. It makes two files agree on
// their numbers.
func WithClasses(names ...string) OpenOption {
	return func(s *openSettings) { s.use("WithClasses"); s.classes = append(s.classes, names...) }
}

// WithHeader says whether the first line of a CSV, or of a CSV of labels ([WithLabelFile]), names the columns. By default
// it does if none of its fields is a number.
func WithHeader(yes bool) OpenOption {
	return func(s *openSettings) { s.use("WithHeader"); s.header = &yes }
}

// WithMissingDropped leaves out rows in which a value is missing: an empty field, NA, N/A, NaN, null, None or ?; a null in
// Parquet; NaN in an array. By default such a row is an error.
func WithMissingDropped() OpenOption {
	return func(s *openSettings) { s.use("WithMissingDropped"); s.drop = true }
}

// WithArray says which array of an NPZ to read. It is needed where there are several.
func WithArray(name string) OpenOption {
	return func(s *openSettings) { s.use("WithArray"); s.array = name }
}

// WithSize brings every image of a folder to this size, the whole of it stretched or shrunk (Catmull–Rom).
func WithSize(height, width int) OpenOption {
	return func(s *openSettings) { s.use("WithSize"); s.height, s.width = height, width }
}

// WithCrop brings every image of a folder to this size without bending it: what is cut off is as much on both sides.
func WithCrop(height, width int) OpenOption {
	return func(s *openSettings) { s.use("WithCrop"); s.height, s.width, s.crop = height, width, true }
}

// WithGrey makes images grey: 0.299 R + 0.587 G + 0.114 B.
func WithGrey() OpenOption {
	return func(s *openSettings) { s.use("WithGrey"); s.grey = true }
}

// WithColour gives grey images three equal channels.
func WithColour() OpenOption {
	return func(s *openSettings) { s.use("WithColour"); s.colour = true }
}

// WithImages says that the columns of a row are the pixels of an image, line by line, channel fastest; channels is 1
// or 3.
func WithImages(height, width, channels int) OpenOption {
	return func(s *openSettings) { s.use("WithImages"); s.images = []int{height, width, channels} }
}

// WithShuffle sets how far the order of training is mixed where rows are not read one by one from all over the file: the
// number of rows that are held in memory to draw from. The default is 65,536, or as many as 256 MiB hold if that is fewer.
// CSV and Parquet are read from front to back, and each row that comes takes the place of one drawn. NPY and IDX with rows
// shorter than 1 KiB are read in runs of 256 rows in random order, and so many rows at a time are mixed. Whatever is in
// memory, long rows and images are mixed wholly. 1 keeps the order of the file, for all formats.
func WithShuffle(rows int) OpenOption {
	return func(s *openSettings) { s.use("WithShuffle"); s.shuffle = rows }
}

// WithFloat64 makes float64 tensors instead of float32.
func WithFloat64() OpenOption {
	return func(s *openSettings) { s.use("WithFloat64"); s.float64 = true }
}

func (s *openSettings) use(name string) { s.used = append(s.used, name) }

// optionFormats says for which formats an option that is not for all of them means something.
var optionFormats = map[string][]Format{
	"WithColumns":      {CSV, TSV, Parquet, NPY, NPZ, IDX},
	"WithoutColumns":   {CSV, TSV, Parquet, NPY, NPZ, IDX},
	"WithLabels":       {CSV, TSV, Parquet, NPY, NPZ, IDX},
	"WithFolderLabels": {ImageFolder},
	"WithHeader":       {CSV, TSV},
	"WithArray":        {NPZ},
	"WithSize":         {ImageFolder},
	"WithCrop":         {ImageFolder},
	"WithGrey":         {ImageFolder},
	"WithColour":       {ImageFolder},
	"WithImages":       {CSV, TSV, Parquet, NPY, NPZ, IDX},
}

// maxPixels is the largest image that is decoded or made, 8,192 × 8,192: a small file can claim any size.
const maxPixels = 1 << 26

func (s *openSettings) validate(format Format) error {
	given := map[string]bool{}
	for _, name := range s.used {
		given[name] = true
		if name == "WithHeader" && s.labelFile != "" {
			continue // it may be meant for that
		}
		if formats, some := optionFormats[name]; some {
			fits := false
			for _, f := range formats {
				fits = fits || f == format
			}
			if !fits {
				return fmt.Errorf("%s: means nothing for %s: leave it out", name, format)
			}
		}
	}
	for _, pair := range [][2]string{{"WithSize", "WithCrop"}, {"WithGrey", "WithColour"}, {"WithLabels", "WithLabelFile"}, {"WithFolderLabels", "WithLabelFile"}} {
		if given[pair[0]] && given[pair[1]] {
			return fmt.Errorf("%s and %s: must be one of the two", pair[0], pair[1])
		}
	}
	if (given["WithSize"] || given["WithCrop"]) && !positiveSides(s.height, s.width) {
		return fmt.Errorf("size %d×%d: sides must be positive and make at most %d pixels", s.height, s.width, maxPixels)
	}
	if s.images != nil && (!positiveSides(s.images[0], s.images[1]) || s.images[2] != 1 && s.images[2] != 3) {
		return fmt.Errorf("WithImages(%d, %d, %d): sides must be positive, channels 1 or 3", s.images[0], s.images[1], s.images[2])
	}
	if given["WithShuffle"] && (s.shuffle < 1 || s.shuffle > math.MaxInt32) {
		return fmt.Errorf("WithShuffle(%d): must be at least 1", s.shuffle)
	}
	if s.classes != nil && !s.labelsOnly && !given["WithLabels"] && !given["WithLabelFile"] && !given["WithFolderLabels"] {
		return fmt.Errorf("WithClasses without labels: say where they are, with WithLabels, WithLabelFile or WithFolderLabels")
	}
	return nil
}

func positiveSides(height, width int) bool {
	return height > 0 && width > 0 && height <= maxPixels && width <= maxPixels/height
}
