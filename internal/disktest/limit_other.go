//go:build !linux && !darwin

package disktest

import "testing"

const canLimit = false

func limit(*testing.T, int) (free func()) { panic("there is no limit on the size of files here") }
