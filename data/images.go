package data

import (
	"bufio"
	"context"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // the formats of images
	_ "image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// imageFolder is a table with an image in each row.
type imageFolder struct {
	root     string
	names    []string // of the files, relative to root
	picture  picture
	settings *openSettings
}

// openImages lists the files and looks at the first.
func (f *File) openImages() error {
	names, err := listImages(f.Path)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("a folder without PNG or JPEG images: name a file, or a folder of images")
	}
	if err := limitRows(len(names)); err != nil {
		return err
	}
	s := f.settings
	folder := &imageFolder{root: f.Path, names: names, settings: s, picture: picture{height: s.height, width: s.width, crop: s.crop}}
	config, err := folder.look(names[0])
	if err != nil {
		return fmt.Errorf("%s: %w", names[0], err)
	}
	p := &folder.picture
	if s.height == 0 {
		p.fixed, p.height, p.width = true, config.Height, config.Width
	}
	p.channels = 3
	if s.grey || !s.colour && (config.ColorModel == color.GrayModel || config.ColorModel == color.Gray16Model) {
		p.channels = 1
	}
	p.mixed = s.grey || s.colour
	f.table, f.fileRows, f.width = folder, len(names), p.height*p.width*p.channels
	f.Height, f.Width, f.Channels, f.Levels = p.height, p.width, p.channels, byteLevels
	if !s.folderLabels {
		return nil
	}
	return f.setFolderLabels(names)
}

// listImages returns the images at any depth below a folder, sorted by folder and name. What starts with a dot is left out.
func listImages(root string) ([]string, error) {
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, plainError(err)
	}
	var names []string
	err = filepath.WalkDir(resolved, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := path != resolved && strings.HasPrefix(entry.Name(), ".")
		switch {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || entry.IsDir():
			return nil
		}
		switch strings.ToLower(filepath.Ext(path)) {
		case ".png", ".jpg", ".jpeg":
			name, err := filepath.Rel(resolved, path)
			if err != nil {
				return err
			}
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// setFolderLabels makes the folders directly below the root the classes.
func (f *File) setFolderLabels(names []string) error {
	list, err := newClassList(f.settings.classes)
	if err != nil {
		return err
	}
	folders := make([]string, len(names))
	for i, name := range names {
		inside := false
		if folders[i], _, inside = strings.Cut(filepath.ToSlash(name), "/"); !inside {
			return fmt.Errorf("%s is in no folder of its own: WithFolderLabels takes one folder a class", name)
		}
	}
	if list.collecting {
		list.names = slices.Compact(slices.Sorted(slices.Values(folders)))
		list.collecting = false
		for i, name := range list.names {
			list.number[name] = int32(i)
		}
	}
	f.labels = make([]int32, len(names))
	for i, folder := range folders {
		class, known := list.number[folder]
		if !known {
			return fmt.Errorf("folder %q: must be one of the classes %s", folder, listed(list.names))
		}
		f.labels[i] = class
	}
	f.ClassNames = list.names
	return nil
}

func (t *imageFolder) mayMiss() bool { return false }

func (t *imageFolder) scattered() bool { return true }

func (t *imageFolder) place(row int32, _ int) string { return t.names[row] }

// read decodes the images side by side.
func (t *imageFolder) read(ctx context.Context, rows []int32, x []float64) error {
	width := len(x) / max(len(rows), 1)
	errs := make([]error, len(rows))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(rows)) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(rows) || ctx.Err() != nil {
					return
				}
				if errs[i] = t.decode(t.names[rows[i]], x[i*width:(i+1)*width]); errs[i] != nil {
					next.Store(int64(len(rows)))
				}
			}
		})
	}
	workers.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: %w", t.names[rows[i]], err)
		}
	}
	return context.Cause(ctx)
}

// look reads the size and the colours of an image.
func (t *imageFolder) look(name string) (image.Config, error) {
	file, err := os.Open(filepath.Join(t.root, name))
	if err != nil {
		return image.Config{}, plainError(err)
	}
	defer file.Close()
	return lookAt(bufio.NewReader(file))
}

func lookAt(r io.Reader) (image.Config, error) {
	config, _, err := image.DecodeConfig(r)
	if err == image.ErrFormat {
		return config, fmt.Errorf("neither PNG nor JPEG in spite of its name: convert or remove it")
	}
	if err != nil {
		return config, damaged(err)
	}
	if !positiveSides(config.Height, config.Width) {
		return config, fmt.Errorf("%d×%d pixels: must be at most %d in all: make it smaller", config.Height, config.Width, maxPixels)
	}
	return config, nil
}

// damaged explains an error of a decoder of images.
func damaged(err error) error {
	return fmt.Errorf("damaged image (%w): replace or remove it", plainError(err))
}

// decode reads an image into x.
func (t *imageFolder) decode(name string, x []float64) error {
	file, err := os.Open(filepath.Join(t.root, name))
	if err != nil {
		return plainError(err)
	}
	defer file.Close()
	// The size is known before memory is taken for it.
	r := bufio.NewReader(file)
	config, err := lookAt(r)
	if err != nil {
		return err
	}
	if p := t.picture; p.fixed && (config.Height != p.height || config.Width != p.width) {
		return fmt.Errorf("%d×%d pixels (height×width), the first image has %d×%d: bring all to one size with WithSize or WithCrop", config.Height, config.Width, p.height, p.width)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return plainError(err)
	}
	r.Reset(file)
	img, _, err := image.Decode(r)
	if err != nil {
		return damaged(err)
	}
	return t.picture.fill(x, img)
}
