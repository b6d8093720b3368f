// Package metric measures how far two distributions, or two scores, are apart.
//
// Files: fisher.go (Fisher divergence between two scores), sliced.go (sliced Wasserstein distance between two sets
// of points).
package metric
