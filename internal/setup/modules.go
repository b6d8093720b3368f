package setup

import (
	"context"
	"strings"
)

// modulesStep fetches the Go modules that cells may import, and the go.mod files of all that those name. Cells are compiled
// without a network (see package kernel), and what has built so far may have needed only a part of them.
func (s Setup) modulesStep() step {
	var cache string
	return step{
		name:  "modules",
		doing: "the Go modules that cells can import",
		from: func(ctx context.Context) (string, error) {
			output, err := tool{dir: s.Checkout, command: []string{"go", "env", "GOMODCACHE"}}.run(ctx)
			if err != nil {
				return "", err
			}
			cache = strings.TrimSpace(output)
			hash, err := hashOf("modules", in(s.Checkout, "go.mod"), in(s.Checkout, "go.sum"))
			return cache + "\n" + hash, err
		},
		// A module cache that was cleared since has no such folder.
		present: func() bool { return cache == "" || exists(in(cache, "cache", "download", "github.com", "janpfeifer")) },
		do: func(ctx context.Context) (string, error) {
			for _, arguments := range [][]string{{"list", "-m", "all"}, {"list", "-deps", "./..."}} {
				list := tool{dir: s.Checkout, log: s.logFile("modules"), temp: s.temp(), command: append([]string{"go"}, arguments...)}
				if _, err := list.run(ctx); err != nil {
					return "", err
				}
			}
			return "", nil
		},
	}
}
