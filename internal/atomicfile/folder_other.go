//go:build !unix

package atomicfile

// syncFolder does nothing: this system has no way to flush a folder.
func syncFolder(string) error { return nil }
