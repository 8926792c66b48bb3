package import KelvinGraph

/// Arrays of texts beside each other along an axis (ONNX's `Concat`).
package struct TextJoin: HostStep {
  package static let name = "text_join"
  package let parts: [StepOperand<TextTensor>]
  /// Counted from the end where it is negative.
  package let axis: Int
  package let output: String

  /// - Precondition: there are parts.
  package init(_ parts: [StepOperand<TextTensor>], axis: Int, output: String) {
    precondition(!parts.isEmpty)
    self.parts = parts
    self.axis = axis
    self.output = output
  }

  package var inputs: [String] { parts.compactMap(\.slot) }
  package var outputs: [String] { [output] }

  package func types(_ inputs: [HostType]) throws(StepError) -> [HostType] {
    var pending = inputs[...]
    var shapes: [Shape] = []
    for part in parts {
      switch part {
      case .constant(let texts): shapes.append(texts.shape)
      case .slot:
        guard case .texts(let shape)? = pending.popFirst() else { return [.unknown] }
        shapes.append(shape)
      }
    }
    // Of texts whose usual sizes differ others may be given.
    return [(try? joined(shapes)).map { .texts($0.shape) } ?? .unknown]
  }

  package func run(_ inputs: [HostValue]) throws(StepError) -> [HostValue] {
    var given: [TextTensor] = []
    var position = 0
    for part in parts {
      switch part {
      case .constant(let texts): given.append(texts)
      case .slot:
        given.append(try texts(position, inputs))
        position += 1
      }
    }
    let (shape, axis) = try joined(given.map(\.shape))
    var texts: [String] = []
    texts.reserveCapacity(shape.count)
    for row in 0..<shape.dimensions[..<axis].reduce(1, *) {
      for part in given {
        let width = part.shape.dimensions[axis...].reduce(1, *)
        texts += part.texts[row * width..<(row + 1) * width]
      }
    }
    return [.texts(TextTensor(texts, shape))]
  }

  private func joined(_ shapes: [Shape]) throws(StepError) -> (shape: Shape, axis: Int) {
    let place = axis < 0 ? axis + shapes[0].rank : axis
    func others(_ shape: Shape) -> [Int] { shape.dimensions.indices.map { $0 == place ? 0 : shape[$0] } }
    guard shapes[0].dimensions.indices.contains(place) else {
      throw refused(0, "texts [\(shapes[0])] have no axis \(axis)", remedy: "give as many axes as the model names")
    }
    if let odd = shapes.firstIndex(where: { others($0) != others(shapes[0]) }) {
      throw refused(
        inputs.isEmpty ? 0 : min(odd, inputs.count - 1),
        "texts [\(shapes[odd])] and [\(shapes[0])] differ outside axis \(place)", remedy: "give as many of each")
    }
    var whole = shapes[0].dimensions
    whole[place] = shapes.reduce(0) { $0 + $1[place] }
    guard TextTensor.takes(Shape(whole)) else {
      throw refused(0, "they are more than \(TextTensor.countLimit) texts", remedy: "give fewer")
    }
    return (Shape(whole), place)
  }
}
