// Package benchmark measures how fast training and sampling run, and how good what comes out is, beside programs that do
// the same work in other libraries.
//
// A [Task] is work defined so exactly that a program in another language can do it, too: bench/README.md has the
// definitions. Each [Program], this one included, works in a process of its own, so that its memory is its own. All
// programs of a task are started before the first is timed; then they take turns on the one machine, a second or a few
// each, and only ratios of one turn are compared: speeds of a machine that others use change within minutes, those ratios
// far less. What a task learns is judged in a run of a fixed number of steps.
//
// Files:
//
//	task.go                      the tasks, and what is measured of each
//	protocol.go                  what a program is asked, and answers: bench/peers/common.py has the other side of it
//	work.go                      how this program does a task when it is asked
//	training.go sampling.go      its tasks, written with the public packages
//	kernels.go product.go
//	convnet.go blobs.go          a convolutional network and its images, for one of them
//	judge.go                     how good a result is
//	program.go python.go         programs and how they are started; Pythons and what they have
//	suite.go                     all programs, tasks and turns
//	machine.go statistics.go     what it ran on; medians and ranges
//	report.go chart.go           the tables and the picture
//	curve.go curvework.go        how the time of a step grows with one number: what is measured, and this program's side
//	curvesuite.go curvereport.go all programs along all curves; exponents, tables and pictures
package benchmark
