import KelvinGraph

/// The inputs of a kernel: the inputs' elements, and the types of inputs and outputs.
struct ReferenceInputs<Element> {
  /// The name of the node.
  let node: String
  let types: [TensorType]
  let outputs: [TensorType]
  let values: [[Element]]
  /// The number of earlier runs of the node since it was compiled.
  var run = 0

  func shape(_ index: Int) -> Shape { types[index].shape }
}

extension ReferenceInputs<Double> {
  /// Returns the bias of a fused operator, which follows the operator's own inputs.
  func bias(_ epilogue: Epilogue) -> [Double]? { epilogue.hasBias ? values[2] : nil }
}

/// An element for operators that move elements without interpreting them.
protocol ReferenceElement {
  /// Creates the element that an attribute specifies.
  init(attribute: Float)
  /// The element as an index along an axis.
  var index: Int { get }
}

extension Double: ReferenceElement {
  init(attribute: Float) { self = Double(attribute) }
  var index: Int { Int(saturating: self) }
}

extension Int64: ReferenceElement {
  init(attribute: Float) { self = Int64(Int(saturating: Double(attribute))) }
  var index: Int { Int(self) }
}

extension UInt64: ReferenceElement {
  init(attribute: Float) { self = UInt64(clamping: Int(saturating: Double(attribute))) }
  var index: Int { Int(clamping: self) }
}
