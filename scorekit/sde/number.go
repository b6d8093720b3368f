package sde

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
)

// number is what the formulas of this package compute with: float64 on the host, a node in a graph. Each formula is
// written once, for both.
type number[N any] interface {
	plus(N) N
	minus(N) N
	times(N) N
	over(N) N
	scaled(float64) N
	shifted(float64) N // adds a constant
	exp() N
	expm1() N
	log() N
	log1p() N
	sqrt() N
	sin() N
	cos() N
	atan() N // of what is not negative
}

type real float64

func (x real) plus(y real) real       { return x + y }
func (x real) minus(y real) real      { return x - y }
func (x real) times(y real) real      { return x * y }
func (x real) over(y real) real       { return x / y }
func (x real) scaled(c float64) real  { return x * real(c) }
func (x real) shifted(c float64) real { return x + real(c) }
func (x real) exp() real              { return real(math.Exp(float64(x))) }
func (x real) expm1() real            { return real(math.Expm1(float64(x))) }
func (x real) log() real              { return real(math.Log(float64(x))) }
func (x real) log1p() real            { return real(math.Log1p(float64(x))) }
func (x real) sqrt() real             { return real(math.Sqrt(float64(x))) }
func (x real) sin() real              { return real(math.Sin(float64(x))) }
func (x real) cos() real              { return real(math.Cos(float64(x))) }
func (x real) atan() real             { return real(math.Atan(float64(x))) }

type node struct{ *Node }

func (x node) plus(y node) node       { return node{graph.Add(x.Node, y.Node)} }
func (x node) minus(y node) node      { return node{graph.Sub(x.Node, y.Node)} }
func (x node) times(y node) node      { return node{graph.Mul(x.Node, y.Node)} }
func (x node) over(y node) node       { return node{graph.Div(x.Node, y.Node)} }
func (x node) scaled(c float64) node  { return node{graph.MulScalar(x.Node, c)} }
func (x node) shifted(c float64) node { return node{graph.AddScalar(x.Node, c)} }
func (x node) exp() node              { return node{graph.Exp(x.Node)} }
func (x node) expm1() node            { return node{graph.Expm1(x.Node)} }
func (x node) log() node              { return node{graph.Log(x.Node)} }
func (x node) log1p() node            { return node{graph.Log1p(x.Node)} }
func (x node) sqrt() node             { return node{graph.Sqrt(x.Node)} }
func (x node) sin() node              { return node{graph.Sin(x.Node)} }
func (x node) cos() node              { return node{graph.Cos(x.Node)} }

// atan halves the angle three times, atan x = 2 atan(x/(1+√(1+x²))), which leaves at most tan(π/16) < 0.2, and sums the
// power series up to y¹⁹: the next term is below 10⁻¹⁵ of the sum. GoMLX has no arctangent.
func (x node) atan() node {
	y := x
	for range 3 {
		root := y.times(y).shifted(1).sqrt()
		y = y.over(root.shifted(1))
	}
	square := y.times(y)
	sum := square.scaled(0).shifted(-1.0 / 19)
	for k := 17; k >= 1; k -= 2 {
		sign := 1.0
		if k%4 == 3 {
			sign = -1
		}
		sum = sum.times(square).shifted(sign / float64(k))
	}
	return sum.times(y).scaled(8)
}
