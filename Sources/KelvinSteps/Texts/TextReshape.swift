package import KelvinGraph

/// The same texts in another shape, or in their own.
package struct TextReshape: HostStep {
  package static let name = "text_reshape"
  /// At most one size may be -1: whatever is left. Nil keeps the shape.
  package let sizes: [Int]?
  /// Whether a size of 0 is that of the input's axis.
  package let copiesZeros: Bool
  package let input: String
  package let output: String

  package init(_ sizes: [Int]?, copiesZeros: Bool = true, input: String, output: String) {
    self.sizes = sizes
    self.copiesZeros = copiesZeros
    self.input = input
    self.output = output
  }

  package var inputs: [String] { [input] }
  package var outputs: [String] { [output] }

  package func types(_ inputs: [HostType]) throws(StepError) -> [HostType] {
    guard case .texts(let shape) = inputs[0] else { return [.unknown] }
    return [.texts(try reshaped(shape))]
  }

  package func run(_ inputs: [HostValue]) throws(StepError) -> [HostValue] {
    let texts = try texts(0, inputs)
    return [.texts(TextTensor(texts.texts, try reshaped(texts.shape)))]
  }

  private func reshaped(_ shape: Shape) throws(StepError) -> Shape {
    guard let sizes else { return shape }
    var whole = sizes.enumerated().map { axis, size in
      size == 0 && copiesZeros && axis < shape.rank ? shape[axis] : size
    }
    let known = Shape(whole.filter { $0 != -1 })
    let free = whole.indices.filter { whole[$0] == -1 }
    if free.count == 1, known.isAddressable, known.count > 0 { whole[free[0]] = shape.count / known.count }
    guard Shape(whole).isAddressable, Shape(whole).count == shape.count else {
      throw refused(0, "texts [\(shape)] do not fit \(sizes)", remedy: "give another number of them")
    }
    return Shape(whole)
  }
}
