/// All operators. A device or a format lists unsupported operators in its own table.
package let operatorCatalog: [any Operator.Type] = [
  ArgReduce.self,
  Attention.self,
  BatchNormalization.self,
  Binary.self,
  BinaryInteger.self,
  Cast.self,
  Compare.self,
  Concat.self,
  Convolution.self,
  ConvolutionInteger.self,
  ConvolutionTranspose.self,
  CumulativeReduce.self,
  Dequantize.self,
  Expand.self,
  Gather.self,
  GatherElements.self,
  GatherND.self,
  LayerNormalization.self,
  Linear.self,
  LocalResponseNormalization.self,
  MatMul.self,
  MatMulInteger.self,
  NonMaximumSuppression.self,
  NonZero.self,
  Pad.self,
  Pool.self,
  Quantize.self,
  RandomKey.self,
  RandomUniform.self,
  Recurrence.self,
  Reduce.self,
  Reshape.self,
  Resize.self,
  ScatterElements.self,
  ScatterND.self,
  Select.self,
  Slice.self,
  Softmax.self,
  TopK.self,
  Transpose.self,
  Unary.self,
  Unique.self,
]

private let operatorsByName: [String: any Operator.Type] = Dictionary(
  uniqueKeysWithValues: (operatorCatalog + controlOperatorCatalog).map { ($0.name, $0) })

/// Creates the operator of a name, with attributes as in a dump or a file.
///
/// - Throws: `OperatorError` if there is no operator of that name, or if its attributes are different.
package func makeOperator(_ name: String, _ attributes: [Attribute] = []) throws(OperatorError) -> any Operator {
  guard let type = operatorsByName[name] else { throw OperatorError("there is no operator '\(name)'") }
  return try type.init(attributes: attributes)
}
