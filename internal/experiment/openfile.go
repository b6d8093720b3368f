package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/scorekit/lab/data"
)

// openFile opens a file or a folder with what the config says of it, and more.
func (c Config) openFile(path string, more ...data.OpenOption) (*data.File, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("data %q: there is no such file, and no built-in set of that name%s: must be a file, a folder of images or one of %s", path, nearest(path, BuiltIn()), list(BuiltIn()))
	}
	options, err := c.openOptions()
	if err != nil {
		return nil, err
	}
	file, err := data.Open(path, append(options, more...)...)
	return file, inWords(err)
}

// openOptions are the options of data.Open that the config asks for.
func (c Config) openOptions() ([]data.OpenOption, error) {
	var options []data.OpenOption
	add := func(asked bool, option data.OpenOption) {
		if asked {
			options = append(options, option)
		}
	}
	add(len(c.Columns) > 0, data.WithColumns(c.Columns...))
	add(len(c.Without) > 0, data.WithoutColumns(c.Without...))
	add(c.Label == folders, data.WithFolderLabels())
	add(c.Label != "" && c.Label != folders, data.WithLabels(c.Label))
	add(c.LabelFile != "", data.WithLabelFile(c.LabelFile))
	add(c.Header != Auto, data.WithHeader(c.Header == "yes"))
	add(c.Missing == "drop", data.WithMissingDropped())
	add(c.Array != "", data.WithArray(c.Array))
	add(c.Colour == "grey", data.WithGrey())
	add(c.Colour == "rgb", data.WithColour())
	add(c.DType == "float64", data.WithFloat64())
	add(c.Shuffle > 0, data.WithShuffle(c.Shuffle))
	if c.Size != "" {
		height, width, _, err := sides("image-size", c.Size, false)
		if err != nil {
			return nil, err
		}
		add(c.Fit == "resize", data.WithSize(height, width))
		add(c.Fit == "crop", data.WithCrop(height, width))
	}
	if c.Images != "" {
		height, width, channels, err := sides("images", c.Images, true)
		if err != nil {
			return nil, err
		}
		add(true, data.WithImages(height, width, channels))
	}
	return options, nil
}

// folders is the label of images whose classes are the folders that they are in.
const folders = "folders"

// noFileOptions returns an error for a setting that means nothing for a built-in set.
func (c Config) noFileOptions() error {
	d := Default()
	fields, standard := c.Fields(), d.Fields()
	for i, f := range fields {
		if slices.Contains([]string{"columns", "without", "label", "label-file", "header", "missing", "array", "image-size", "image-fit", "images", "colour", "shuffle"}, f.Key) &&
			f.String() != standard[i].String() || f.Key == "stream" && f.String() == "yes" {
			return fmt.Errorf("%s %s: means nothing for the built-in set %s: leave it out", f.Key, f, c.Data)
		}
	}
	return nil
}

// streams says whether a file is read while training: one that would take more than about half a gigabyte of memory, and
// folders of many images, which take long to read.
func (c Config) streams(file *data.File) bool {
	if c.Stream != Auto {
		return c.Stream == "yes"
	}
	const most = 512 << 20
	width := 1
	for _, n := range file.Shape() {
		width *= n
	}
	switch {
	case file.Format == data.ImageFolder && file.Rows > 5000:
		return true
	case file.Rows >= 0:
		return file.Rows*width*4 > most
	}
	info, err := os.Stat(file.Path)
	return err == nil && info.Size() > most/2 // a number takes about twice as much on a line as in memory
}

// inWords puts the command's own words for options of package data into an error.
func inWords(err error) error {
	if err == nil {
		return nil
	}
	return worded{err}
}

type worded struct{ error }

func (w worded) Error() string { return optionWords.Replace(w.error.Error()) }
func (w worded) Unwrap() error { return w.error }

var optionWords = strings.NewReplacer(
	"WithMissingDropped", "--missing drop", "WithoutColumns", "--without", "WithColumns", "--columns", "WithFolderLabels", "--label folders",
	"WithLabelFile", "--label-file", "WithLabels", "--label", "WithHeader", "--header", "WithArray", "--array", "WithSize", "--image-size",
	"WithCrop", "--image-size with --image-fit crop", "WithGrey", "--colour grey", "WithColour", "--colour rgb", "WithImages", "--images",
	"WithFloat64", "--dtype float64", "WithShuffle", "--shuffle", "WithClasses", "the classes of the run")
