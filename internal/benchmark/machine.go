package benchmark

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// Machine is what was measured on.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	System string `json:"system"`
	Commit string `json:"commit"`
	Load   string `json:"load,omitempty"` // of the last minute, before the first run
}

// ThisMachine says what can be found out about the machine and this program.
func ThisMachine(ctx context.Context) Machine {
	return Machine{CPU: cpu(), Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Commit: commit(ctx), Load: load()}
}

// String tells it in a few words.
func (m Machine) String() string {
	text := fmt.Sprintf("%s, %d cores, %s, commit %s", m.CPU, m.Cores, m.System, m.Commit)
	if m.Load != "" {
		text += ", load " + m.Load + " before"
	}
	return text
}

func cpu() string {
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return "unknown processor"
}

// commit is that of the working folder, or the one that the program was built from.
func commit(ctx context.Context) string {
	if out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output(); err == nil {
		return strings.TrimSpace(string(out))
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// peakMB is the most memory that this process has held, 0 where the system does not tell. On Linux the usage that getrusage
// tells counts the program that started this one, too.
func peakMB() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kb, _ := strconv.ParseFloat(fields[1], 64)
			return kb / 1024
		}
	}
	return 0
}
