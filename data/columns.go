package data

import (
	"fmt"
	"slices"
	"strconv"
)

// pickColumns returns which of count columns hold the values, in order, and which the label, −1 for none. names may be
// nil. Columns are counted from 0 here, and from 1 in what the user says and reads.
func (s *openSettings) pickColumns(names []string, count int) (pick []int, label int, err error) {
	label = -1
	if s.label != "" {
		if label, err = findColumn(s.label, names, count); err != nil {
			return nil, 0, fmt.Errorf("WithLabels: %w", err)
		}
	}
	leave := map[int]bool{}
	for _, name := range s.without {
		j, err := findColumn(name, names, count)
		if err != nil {
			return nil, 0, fmt.Errorf("WithoutColumns: %w", err)
		}
		leave[j] = true
	}
	for _, name := range s.columns {
		j, err := findColumn(name, names, count)
		switch {
		case err != nil:
			return nil, 0, fmt.Errorf("WithColumns: %w", err)
		case j == label:
			return nil, 0, fmt.Errorf("WithColumns: column %q is the label: it cannot be a value too", name)
		case slices.Contains(pick, j):
			return nil, 0, fmt.Errorf("WithColumns: column %q twice: name it once", name)
		}
		if !leave[j] {
			pick = append(pick, j)
		}
	}
	if s.columns == nil {
		for j := range count {
			if j != label && !leave[j] {
				pick = append(pick, j)
			}
		}
	}
	if len(pick) == 0 && !s.labelsOnly {
		return nil, 0, fmt.Errorf("no columns are left for values: must be at least one")
	}
	return pick, label, nil
}

// findColumn finds a column by name, or else by its number from 1.
func findColumn(which string, names []string, count int) (int, error) {
	found := -1
	for j, name := range names {
		if name != which {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("columns %d and %d are both named %q: choose by number", found+1, j+1, which)
		}
		found = j
	}
	if found >= 0 {
		return found, nil
	}
	if number, err := strconv.Atoi(which); err == nil && 1 <= number && number <= count {
		return number - 1, nil
	}
	if names == nil {
		return 0, fmt.Errorf("no column %q: there are no names, choose by number from 1 to %d", which, count)
	}
	return 0, fmt.Errorf("no column %q: there are %s", which, listed(names))
}

// columnName describes a column for a message.
func columnName(j int, names []string) string {
	if j < len(names) && names[j] != "" {
		return fmt.Sprintf("column %d (%q)", j+1, names[j])
	}
	return fmt.Sprintf("column %d", j+1)
}

// namesOf returns the names of the picked columns, or nil if there are none.
func namesOf(pick []int, names []string) []string {
	if names == nil {
		return nil
	}
	picked := make([]string, len(pick))
	for k, j := range pick {
		picked[k] = names[j]
	}
	return picked
}
