// Package bench measures how fast training and sampling run, in steps per second, on tasks defined so exactly that a
// program in another language can do the same work beside it.
//
// Files: ring_test.go (the ring of eight Gaussians), ring_jax.py (the same work in JAX), README.md (how to run both and
// compare them fairly).
package bench
