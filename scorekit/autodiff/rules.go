package autodiff

import (
	"fmt"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
)

// rule is a gradient rule for an operation with one output: from the operation's node and the gradient v with
// respect to its output it makes the gradient with respect to each input (nil: none).
type rule func(node, v *Node) []*Node

// stock holds GoMLX's own rules, for those of ours that add to one.
var stock = map[graph.NodeType]graph.VJP{}

// rules lists every rule that this package puts in place of GoMLX's, or adds. Each function says why.
var rules = map[graph.NodeType]rule{
	graph.NodeTypeMul:            mulRule,
	graph.NodeTypeDot:            dotRule,
	graph.NodeTypeDotGeneral:     dotGeneralRule,
	graph.NodeTypeConvGeneral:    convolutionRule,
	graph.NodeTypeRsqrt:          rsqrtRule,
	graph.NodeTypeExpm1:          expm1Rule,
	graph.NodeTypeIdentity:       identityRule,
	graph.NodeTypeClamp:          clampRule,
	graph.NodeTypeRem:            remRule,
	graph.NodeTypeConvertDType:   convertRule,
	graph.NodeTypeSlice:          sliceRule,
	graph.NodeTypePad:            padRule,
	graph.NodeTypeReverse:        reverseRule,
	graph.NodeTypeReduceMax:      extremumRule,
	graph.NodeTypeReduceMin:      extremumRule,
	graph.NodeTypeReduceProduct:  productRule,
	graph.NodeTypeReduceWindow:   windowRule,
	graph.NodeTypeGather:         gatherRule,
	graph.NodeTypeScatterSum:     scatterRule,
	graph.NodeTypeFloor:          noGradient,
	graph.NodeTypeCeil:           noGradient,
	graph.NodeTypeRound:          noGradient,
	graph.NodeTypeSign:           noGradient,
	graph.NodeTypeArgMinMax:      noGradient,
	graph.NodeTypeIsFinite:       noGradient,
	graph.NodeTypeIsNaN:          noGradient,
	graph.NodeTypeEqual:          noGradient,
	graph.NodeTypeNotEqual:       noGradient,
	graph.NodeTypeLessThan:       noGradient,
	graph.NodeTypeLessOrEqual:    noGradient,
	graph.NodeTypeGreaterThan:    noGradient,
	graph.NodeTypeGreaterOrEqual: noGradient,
}

// init registers the rules for the whole program: GoMLX keeps one table, so importing this package is enough. The
// table is copied first, so that a rule which falls back never falls back on itself.
func init() {
	for op, r := range graph.VJPRegistration {
		stock[op] = r
	}
	for op, r := range rules {
		graph.VJPRegistration[op] = func(node *Node, vs []*Node, _ shapes.Shape) []*Node { return r(node, vs[0]) }
	}
	for _, op := range graph.NodeTypeValues() {
		if graph.VJPRegistration[op] == nil {
			graph.VJPRegistration[op] = func(node *Node, _ []*Node, _ shapes.Shape) []*Node { panic(refusal(node)) }
		}
	}
}

// instead says what to use in place of an operation that has no gradient.
var instead = map[graph.NodeType]string{
	graph.NodeTypeSelectAndScatterMax:   "max pooling has a first derivative only: use mean pooling, or Reshape and ReduceMax for windows that do not overlap",
	graph.NodeTypeSelectAndScatterMin:   "min pooling has a first derivative only: use mean pooling, or Reshape and ReduceMin for windows that do not overlap",
	graph.NodeTypeBatchNormGradient:     "batch normalisation has a first derivative only (and mixes the rows of a batch): use layer or group normalisation built from ReduceMean",
	graph.NodeTypeBatchNormForInference: "write it out: (x − mean)·Rsqrt(variance + ε)·scale + offset",
	graph.NodeTypeBitcast:               "use ConvertDType",
}

// refusal is the error for an operation without a gradient.
func refusal(node *Node) error {
	advice := instead[node.Type()]
	if advice == "" {
		advice = "write it with operations that have one, or put StopGradient around it"
	}
	return fmt.Errorf("autodiff: gradient of %s: not defined: %s", node.Type(), advice)
}

// has tells whether the graph's backend implements an operation.
func has(node *Node, op backends.OpType) bool {
	return node.Graph().Backend().Capabilities().Operations[op]
}
