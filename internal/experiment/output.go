package experiment

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/sbinet/npyio/npy"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/atomicfile"
	"github.com/scorekit/lab/plots"
	"github.com/scorekit/lab/scorekit"
)

// Outputs are the endings of files that samples are written to.
var Outputs = []string{".npy", ".csv", ".png"}

// CheckOutput returns an error for a file whose ending is none of allowed, and for one in a folder that is not there.
func CheckOutput(path string, allowed ...string) error {
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("out %s: there is no folder %s", path, filepath.Dir(path))
	}
	if !slices.Contains(allowed, strings.ToLower(filepath.Ext(path))) {
		return fmt.Errorf("out %q: must end in %s", path, strings.Join(allowed, ", "))
	}
	return nil
}

// Save writes samples to a file by its ending: .npy, [n, d] or for images [n, height, width, channels]; .csv, a line of
// names and a line for each sample; .png, a grid of images or a scatter plot of points in the plane.
func (d *Drawn) Save(path string) error {
	if err := CheckOutput(path, Outputs...); err != nil {
		return err
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".npy":
		return saveNPY(path, d.X, d.Facts)
	case ".csv":
		return saveCSV(path, d.X, d.Facts.names(), d.Classes)
	}
	if d.Facts.Kind == "images" {
		return saveGrid(path, d.X, d.Facts)
	}
	if d.Facts.dim() != 2 {
		return fmt.Errorf("out %s: a picture of samples with %d columns: must be images or points in the plane; take .csv or .npy", path, d.Facts.dim())
	}
	figure, err := plots.Scatter{Sets: []plots.PointSet{{Points: d.X}}}.Figure()
	if err != nil {
		return err
	}
	return savePNG(figure, path)
}

// names returns the name of each number of an example.
func (f Facts) names() []string {
	if f.Kind != "images" {
		return f.Columns
	}
	var all []string
	for i := range f.Height {
		for j := range f.Width {
			for k := range f.Channels {
				name := fmt.Sprintf("pixel_%d_%d", i, j)
				if f.Channels > 1 {
					name += fmt.Sprintf("_%d", k)
				}
				all = append(all, name)
			}
		}
	}
	return all
}

// saveNPY writes rows in NumPy's format.
func saveNPY(path string, x *tensors.Tensor, f Facts) error {
	dims := x.Shape().Dimensions[1:]
	if f.Kind == "images" {
		dims = []int{f.Height, f.Width, f.Channels}
	}
	kind := reflect.TypeFor[float32]()
	if x.DType() == dtypes.Float64 {
		kind = reflect.TypeFor[float64]()
	}
	for _, d := range slices.Backward(dims) {
		kind = reflect.ArrayOf(d, kind)
	}
	all := reflect.MakeSlice(reflect.SliceOf(kind), x.Shape().Dimensions[0], x.Shape().Dimensions[0])
	next := 0
	var fill func(v reflect.Value, flat reflect.Value)
	fill = func(v, flat reflect.Value) {
		if v.Kind() != reflect.Array && v.Kind() != reflect.Slice {
			v.Set(flat.Index(next))
			next++
			return
		}
		for i := range v.Len() {
			fill(v.Index(i), flat)
		}
	}
	if err := x.ConstFlatData(func(flat any) { fill(all, reflect.ValueOf(flat)) }); err != nil {
		return err
	}
	return atomicfile.WriteFunc(path, 0o644, func(w io.Writer) error {
		buffered := bufio.NewWriter(w)
		if err := npy.Write(buffered, all.Interface()); err != nil {
			return err
		}
		return buffered.Flush()
	})
}

// saveCSV writes a line of names and a line for each row, with its class in the last column if there are classes.
func saveCSV(path string, x *tensors.Tensor, names []string, classes []int) error {
	list, err := scorekit.Rows(x)
	if err != nil {
		return err
	}
	digits := 9 // of a float32
	if x.DType() == dtypes.Float64 {
		digits = 17
	}
	return atomicfile.WriteFunc(path, 0o644, func(w io.Writer) error {
		out := csv.NewWriter(w)
		header := slices.Clone(names)
		if classes != nil {
			header = append(header, "class")
		}
		if err := out.Write(header); err != nil {
			return err
		}
		for i, row := range list {
			line := make([]string, 0, len(row)+1)
			for _, v := range row {
				line = append(line, strconv.FormatFloat(v, 'g', digits, 64))
			}
			if classes != nil {
				line = append(line, strconv.Itoa(classes[i]))
			}
			if err := out.Write(line); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	})
}

// saveGrid writes images side by side, the first at the top left, with thin gaps.
func saveGrid(path string, x *tensors.Tensor, f Facts) error {
	list, err := scorekit.Rows(x)
	if err != nil {
		return err
	}
	list = list[:min(len(list), 400)] // more are no picture to look at
	columns := int(math.Ceil(math.Sqrt(float64(len(list)))))
	if len(list)%10 == 0 && len(list) <= 100 { // ten classes in turn stand under one another
		columns = 10
	}
	lines := (len(list) + columns - 1) / columns
	scale := max(1, 64/max(f.Height, f.Width))
	const gap = 2
	picture := image.NewNRGBA(image.Rect(0, 0, columns*(f.Width*scale+gap)+gap, lines*(f.Height*scale+gap)+gap))
	for i := range picture.Pix {
		picture.Pix[i] = 0x80
		if i%4 == 3 {
			picture.Pix[i] = 0xff
		}
	}
	grey := func(v float64) uint8 {
		return uint8(math.Round(255 * min(1, max(0, (v-f.Low)/(f.High-f.Low)))))
	}
	for i, row := range list {
		left, top := gap+i%columns*(f.Width*scale+gap), gap+i/columns*(f.Height*scale+gap)
		for py := range f.Height * scale {
			for px := range f.Width * scale {
				at := (py/scale*f.Width + px/scale) * f.Channels
				c := color.NRGBA{A: 0xff}
				c.R = grey(row[at])
				c.G, c.B = c.R, c.R
				if f.Channels == 3 {
					c.G, c.B = grey(row[at+1]), grey(row[at+2])
				}
				picture.SetNRGBA(left+px, top+py, c)
			}
		}
	}
	return atomicfile.WriteFunc(path, 0o644, func(w io.Writer) error { return png.Encode(w, picture) })
}
