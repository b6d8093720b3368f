package benchmark

// Ways to ask a program for a task.
const (
	Cold  = "cold"  // one training step, compiled for itself
	Judge = "judge" // so many steps, and how good the result is
	Serve = "serve" // ready, then turns of so many seconds as they are asked for on standard input, then as Judge
)

// Message is a line that a program writes, in JSON.
type Message struct {
	// Ready is the answer to Serve, when everything is compiled.
	Ready bool `json:"ready,omitempty"`
	// Steps, Seconds and the processor time of all cores together are of one turn.
	Steps   int     `json:"steps,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	CPU     float64 `json:"cpu,omitempty"`
	// The rest is told at the end. Items are those of a step; Flops are of its matrix products alone.
	Items   float64            `json:"items,omitempty"`
	Flops   float64            `json:"flops,omitempty"`
	Quality map[string]float64 `json:"quality,omitempty"`
	PeakMB  float64            `json:"peak_mb,omitempty"`
}

// flag is how a program is asked on its command line.
func flag(how string, steps string) []string {
	if how == Judge {
		return []string{"--steps", steps}
	}
	return []string{"--" + how}
}
