package setup

import (
	"slices"
	"testing"
)

func TestGoplsIsKeptOnceAskedFor(t *testing.T) {
	s := Setup{Home: t.TempDir(), Checkout: t.TempDir()}
	asked := func() bool {
		return slices.ContainsFunc(s.steps(), func(step step) bool { return step.name == goplsName })
	}
	if asked() {
		t.Error("gopls is built though nobody asked for it")
	}
	s.Gopls = true
	if !asked() {
		t.Error("gopls is not built though asked for")
	}
	s.Gopls = false
	if err := writeStamp(s.Home, goplsName, "an older one"); err != nil {
		t.Fatal(err)
	}
	if !asked() {
		t.Error("gopls that was asked for once is not kept up to date")
	}
}
