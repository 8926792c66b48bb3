import KelvinGraph

/// What a kernel is given: the inputs' elements, and the types of inputs and outputs.
struct ReferenceInputs<Element> {
  /// The node that is computed.
  let node: String
  let types: [TensorType]
  let outputs: [TensorType]
  let values: [[Element]]
  /// How often the node has run before, since it was compiled.
  var run = 0

  func shape(_ index: Int) -> Shape { types[index].shape }
}

extension ReferenceInputs<Double> {
  /// The epilogue's part of a fused operator: its bias, found after the operator's own inputs.
  func bias(_ epilogue: Epilogue) -> [Double]? { epilogue.hasBias ? values[2] : nil }
}

/// An element as operators see it that move elements without looking at them.
protocol ReferenceElement {
  /// The element that an attribute names.
  init(attribute: Float)
  /// The element as an index of an axis.
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
