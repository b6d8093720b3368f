//go:build cgo && (linux || darwin)

package backend

import (
	"debug/elf"
	"debug/macho"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
)

// checkLibrary returns an error if the file at path certainly cannot be loaded: cheaper than trying, and with a reason
// that is easier to understand.
func checkLibrary(path string) error {
	// Looked at before it is opened, for opening a pipe waits for somebody to write to it.
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("the file does not exist")
	}
	if err == nil && info.IsDir() {
		return errors.New("this is not a file but a folder")
	}
	if err == nil && !info.Mode().IsRegular() {
		return errors.New("this is not a file but a device or pipe")
	}
	var file *os.File
	if err == nil {
		file, err = os.Open(path)
	}
	if err != nil {
		return fmt.Errorf("the file cannot be read: %w", errors.Unwrap(err))
	}
	defer file.Close()
	if runtime.GOOS == "darwin" {
		return checkMachO(file)
	}
	return checkELF(file)
}

func checkELF(file *os.File) error {
	library, err := elf.NewFile(file)
	if err != nil || library.Type != elf.ET_DYN {
		return errors.New("the file is not a shared library, or damaged")
	}
	machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	if machine != 0 && library.Machine != machine {
		return fmt.Errorf("the file is for another processor (%v)", library.Machine)
	}
	return nil
}

func checkMachO(file *os.File) error {
	if _, err := macho.NewFatFile(file); err == nil {
		return nil
	}
	if _, err := macho.NewFile(file); err != nil {
		return errors.New("the file is not a shared library, or damaged")
	}
	return nil
}
