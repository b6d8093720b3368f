package benchmark

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// conversation is with a program at work.
type conversation struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
	wrong   *bytes.Buffer
	began   time.Time
}

func (p Program) start(ctx context.Context, t Task, seed int64, how string) (*conversation, error) {
	c := &conversation{command: p.command(ctx, t, seed, how), wrong: &bytes.Buffer{}}
	c.command.Stderr = c.wrong
	in, err := c.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out, c.began = in, json.NewDecoder(out), time.Now()
	return c, c.command.Start()
}

// listen reads the next message. The error of a program that ends without one has the last line of its complaints.
func (c *conversation) listen() (Message, error) {
	var m Message
	err := c.out.Decode(&m)
	if err == nil {
		return m, nil
	}
	c.in.Close()
	// What is still to read would keep Wait waiting.
	_ = c.command.Wait()
	lines := strings.Split(strings.TrimSpace(c.wrong.String()), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return m, errors.New(last)
	}
	return m, fmt.Errorf("it ended without an answer: %w", err)
}

// turn has the program work for so many seconds.
func (c *conversation) turn(seconds float64) (Message, error) {
	if _, err := fmt.Fprintln(c.in, seconds); err != nil {
		return Message{}, err
	}
	m, err := c.listen()
	if err == nil && (m.Steps == 0 || m.Seconds <= 0) {
		err = fmt.Errorf("a turn of %d steps in %v seconds", m.Steps, m.Seconds)
	}
	return m, err
}

// end lets the program finish and returns what it says at the end.
func (c *conversation) end() (Message, error) {
	if err := c.in.Close(); err != nil {
		return Message{}, err
	}
	m, err := c.listen()
	if err != nil {
		return m, err
	}
	return m, c.command.Wait()
}

// abandon ends the program without asking.
func (c *conversation) abandon() {
	c.in.Close()
	_ = c.command.Cancel()
	_ = c.command.Wait()
}
