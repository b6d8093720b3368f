package scorekit

// blockLength returns how many steps one call should do, at most limit: each other length of a block is compiled on its
// own, so that the number divides every distance at which blocks must end (0: none) and, if it can, the total.
func blockLength(limit, total int, distances ...int) int {
	divides := func(u int) bool {
		for _, d := range distances {
			if d%u != 0 {
				return false
			}
		}
		return true
	}
	for _, whole := range []bool{true, false} {
		for u := limit; u > 1; u-- {
			if divides(u) && (total%u == 0 || !whole) {
				return u
			}
		}
	}
	return 1
}
