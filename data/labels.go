package data

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/scorekit/lab/scorekit"
)

// maxClasses bounds how many classes there may be: a column with more different values is not a label.
const maxClasses = 10_000

// classList numbers labels. While collecting it takes in every new label; settle then gives the numbers.
type classList struct {
	names      []string
	number     map[string]int32
	collecting bool
}

// newClassList returns a list with the classes told, or one that collects them.
func newClassList(told []string) (*classList, error) {
	c := &classList{collecting: told == nil, number: map[string]int32{}}
	for _, name := range told {
		key := labelKey(name)
		if _, twice := c.number[key]; twice {
			return nil, fmt.Errorf("WithClasses: class %q twice: must differ", name)
		}
		c.number[key] = int32(len(c.names))
		c.names = append(c.names, name)
	}
	return c, nil
}

// of returns the number of a label, NoClass for a missing one.
func (c *classList) of(label string) (int32, error) {
	if i, known := c.number[label]; known {
		return i, nil
	}
	key := labelKey(label)
	if isMissing(key) {
		return scorekit.NoClass, nil
	}
	if i, known := c.number[key]; known {
		return i, nil
	}
	if !c.collecting {
		return 0, fmt.Errorf("label %q: must be one of the classes %s", label, listed(c.names))
	}
	if len(c.names) == maxClasses {
		return 0, fmt.Errorf("more than %d different labels: is this the column of the class?", maxClasses)
	}
	i := int32(len(c.names))
	c.number[key] = i
	c.names = append(c.names, key)
	return i, nil
}

// ofNumber is of for a label that is a number.
func (c *classList) ofNumber(v float64) (int32, error) {
	if math.IsNaN(v) {
		return scorekit.NoClass, nil
	}
	if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return 0, fmt.Errorf("label %v: must be a whole number", v)
	}
	return c.of(strconv.FormatInt(int64(v), 10))
}

// settle ends collecting. It returns the new number of each collected one.
func (c *classList) settle() []int32 {
	collected := c.names
	c.collecting = false
	numbers, whole := make([]int, len(collected)), true
	for i, name := range collected {
		v, err := strconv.Atoi(name)
		numbers[i] = v
		whole = whole && err == nil
	}
	switch {
	case whole && len(numbers) > 0 && slices.Min(numbers) == 0 && slices.Max(numbers) < maxClasses:
		c.names = nil
		for i := range slices.Max(numbers) + 1 {
			c.names = append(c.names, strconv.Itoa(i))
		}
	case whole:
		c.names = nil
		for _, v := range slices.Sorted(slices.Values(numbers)) {
			c.names = append(c.names, strconv.Itoa(v))
		}
	default:
		c.names = slices.Sorted(slices.Values(collected))
	}
	c.number = map[string]int32{}
	for i, name := range c.names {
		c.number[name] = int32(i)
	}
	renumbered := make([]int32, len(collected))
	for i, name := range collected {
		renumbered[i] = c.number[name]
	}
	return renumbered
}

// labelKey makes equal labels equal text: 1, 1.0 and " 1" are one class.
func labelKey(label string) string {
	label = strings.TrimSpace(label)
	if v, err := strconv.ParseFloat(label, 64); err == nil && v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return label
}

// isMissing tells whether a field, without blanks around it, stands for a value that is not there.
func isMissing(field string) bool {
	switch len(field) {
	case 0:
		return true
	case 1:
		return field == "?"
	case 2:
		return strings.EqualFold(field, "na")
	case 3:
		return strings.EqualFold(field, "n/a") || strings.EqualFold(field, "nan")
	case 4:
		return strings.EqualFold(field, "null") || strings.EqualFold(field, "none") || strings.EqualFold(field, "#n/a")
	}
	return false
}

// listed names a few of many.
func listed(names []string) string {
	const few = 8
	if len(names) == 0 {
		return "(none)"
	}
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, … (%d in all)", strings.Join(names[:few], ", "), len(names))
}

// classesOf numbers the labels of all rows, given as numbers.
func (s *openSettings) classesOf(labels []float64) (names []string, classes []int32, err error) {
	list, err := newClassList(s.classes)
	if err != nil {
		return nil, nil, err
	}
	classes = make([]int32, len(labels))
	for i, v := range labels {
		if classes[i], err = list.ofNumber(v); err != nil {
			return nil, nil, fmt.Errorf("row %d: %w", i+1, err)
		}
	}
	if list.collecting {
		renumbered := list.settle()
		for i, class := range classes {
			if class != scorekit.NoClass {
				classes[i] = renumbered[class]
			}
		}
	}
	return list.names, classes, nil
}

// openLabelFile reads the classes from the file that WithLabelFile names.
func (f *File) openLabelFile() error {
	path := f.settings.labelFile
	if path == "" {
		return nil
	}
	labels := &File{Path: path, fileRows: -1, cache: &passCache{}, settings: &openSettings{label: "1", header: f.settings.header, classes: f.settings.classes, labelsOnly: true}}
	if format, _, err := detect(path); err == nil && (format == ImageFolder || format == NPZ) {
		return fmt.Errorf("labels of %s: %s: must be an IDX, NPY, CSV or Parquet of one column", path, format)
	}
	if err := labels.open(); err != nil {
		return fmt.Errorf("labels of %s: %w", path, err)
	}
	if labels.width != 0 {
		return fmt.Errorf("labels of %s: %d columns: must be one", path, labels.width+1)
	}
	var classes []int32
	for r, err := range labels.inFileOrder(context.Background()) {
		if err != nil {
			return fmt.Errorf("labels of %s: %w", path, err)
		}
		classes = append(classes, r.class)
	}
	if f.fileRows >= 0 && len(classes) != f.fileRows {
		return fmt.Errorf("labels of %s: %d for %d rows: must be as many", path, len(classes), f.fileRows)
	}
	f.ClassNames, f.labels = labels.ClassNames, classes
	return nil
}
