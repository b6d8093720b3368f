// Package rungekutta holds the coefficients of Runge–Kutta methods that several solvers share.
package rungekutta

// The pair of Dormand and Prince (1980), orders 5 and 4, for y′ = f(t, y) and a step h. With k₁ … k₇ the slopes, stage i
// is at t + Nodes[i]·h and y + h·Σⱼ Stages[i][j]·kⱼ, and h·Σⱼ Error[j]·kⱼ is the difference of the two solutions. The last
// stage is the solution of order 5 itself, and the first stage of the next step.
var (
	Nodes  = [7]float64{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1}
	Stages = [7][]float64{
		{},
		{1. / 5},
		{3. / 40, 9. / 40},
		{44. / 45, -56. / 15, 32. / 9},
		{19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
		{9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
		{35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84},
	}
	Error = [7]float64{71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40}
)
