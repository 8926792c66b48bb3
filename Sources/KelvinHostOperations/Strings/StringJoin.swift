package import KelvinGraph

/// Concatenates arrays of strings along an axis (ONNX's `Concat`).
package struct StringJoin: OneOutputOperation {
  package static let name = "string_join"
  package let parts: [HostOperand<StringTensor>]
  /// The axis; a negative one counts from the end.
  package let axis: Int
  package let output: String

  /// Creates the operation.
  ///
  /// - Precondition: There is at least one part.
  package init(_ parts: [HostOperand<StringTensor>], axis: Int, output: String) {
    precondition(!parts.isEmpty)
    self.parts = parts
    self.axis = axis
    self.output = output
  }

  package var inputs: [String] { parts.compactMap(\.slot) }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    let shapes = parts.shapes(inputs).compactMap { $0 }
    guard shapes.count == parts.count else { return [.unknown] }
    // If the standard sizes of strings differ, callers may give others.
    return [(try? joined(shapes)).map { .strings($0.shape) } ?? .unknown]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    var position = 0
    let given = try strings(parts, inputs, from: &position)
    let (shape, axis) = try joined(given.map(\.shape))
    var strings: [String] = []
    strings.reserveCapacity(shape.count)
    for row in 0..<shape.dimensions[..<axis].reduce(1, *) {
      for part in given {
        let width = part.shape.dimensions[axis...].reduce(1, *)
        strings += part.strings[row * width..<(row + 1) * width]
      }
    }
    return [.strings(StringTensor(strings, shape))]
  }

  private func joined(_ shapes: [Shape]) throws(HostOperationError) -> (shape: Shape, axis: Int) {
    let place = axis < 0 ? axis + shapes[0].rank : axis
    func others(_ shape: Shape) -> [Int] { shape.dimensions.indices.map { $0 == place ? 0 : shape[$0] } }
    guard shapes[0].dimensions.indices.contains(place) else {
      throw refused(0, "strings [\(shapes[0])] have no axis \(axis)", remedy: "give as many axes as the model names")
    }
    if let odd = shapes.firstIndex(where: { others($0) != others(shapes[0]) }) {
      throw refused(
        inputs.isEmpty ? 0 : min(odd, inputs.count - 1),
        "strings [\(shapes[odd])] and [\(shapes[0])] differ outside axis \(place)", remedy: "give as many of each")
    }
    var whole = shapes[0].dimensions
    whole[place] = shapes.reduce(0) { $0 + $1[place] }
    guard StringTensor.takes(Shape(whole)) else {
      throw refused(0, "they are more than \(StringTensor.countLimit) strings", remedy: "give fewer")
    }
    return (Shape(whole), place)
  }
}
