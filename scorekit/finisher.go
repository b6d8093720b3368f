package scorekit

import "fmt"

// Finisher is implemented by a sampler whose chains get to their end in a number of steps that is not known before, such
// as one that chooses its step sizes. Its schedule is then the most steps that it may take: a run stops as soon as all
// chains are at the end, and is an error if some are not after all steps.
type Finisher interface {
	// Waiting adds the number of chains that are not at the end to the graph, a scalar.
	Waiting(state State) *Node
}

// waiting is the number of chains that are not at the end, none for a sampler that is no Finisher.
func (c *chains) waiting(state State, none *Node) *Node {
	if f, ok := c.sampler.(Finisher); ok {
		return f.Waiting(state)
	}
	return none
}

// arrive ends the schedule of a Finisher where all chains are at the end, and returns an error if some are not after the
// last step.
func (c *chains) arrive() error {
	if _, ok := c.sampler.(Finisher); !ok {
		return nil
	}
	watch, err := floats(c.state[atWatch])
	if err != nil {
		return err
	}
	switch waiting := watch[4]; {
	case waiting == 0:
		c.schedule.Rows = c.schedule.Rows[:c.step]
	case c.step == len(c.schedule.Rows):
		return fmt.Errorf("sampler %T: %g of %d chains are not at the end after all %d steps: must be allowed more, or looser tolerances", c.sampler, waiting, c.n, c.step)
	}
	return nil
}
