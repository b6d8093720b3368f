package scorekit

import "github.com/scorekit/lab/internal/kept"

// ForgetSteps drops all kept training steps, as in a new process.
func ForgetSteps() { keptSteps = kept.Last[recipe, *stepper]{Most: keptSteps.Most} }
