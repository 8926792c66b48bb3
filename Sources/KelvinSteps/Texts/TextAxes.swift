package import KelvinGraph

/// The same texts with other axes (ONNX's `Flatten`, `Squeeze` and `Unsqueeze`).
package struct TextAxes: HostStep {
  package static let name = "text_axes"

  package enum Change: Hashable, Sendable {
    /// Two axes: those before one, and those from it on.
    case flattened(at: Int)
    /// Without some axes of size 1; nil for all of them.
    case removed([Int]?)
    /// With axes of size 1 at places of the result.
    case inserted([Int])
  }

  package let change: Change
  package let input: String
  package let output: String

  /// Axes are counted from the end where they are negative.
  package init(_ change: Change, input: String, output: String) {
    self.change = change
    self.input = input
    self.output = output
  }

  package var inputs: [String] { [input] }
  package var outputs: [String] { [output] }

  package func types(_ inputs: [HostType]) throws(StepError) -> [HostType] {
    guard case .texts(let shape) = inputs[0] else { return [.unknown] }
    return [.texts(try changed(shape))]
  }

  package func run(_ inputs: [HostValue]) throws(StepError) -> [HostValue] {
    let texts = try texts(0, inputs)
    return [.texts(TextTensor(texts.texts, try changed(texts.shape)))]
  }

  private func changed(_ shape: Shape) throws(StepError) -> Shape {
    let sizes = shape.dimensions
    switch change {
    case .flattened(let axis):
      let place = axis < 0 ? axis + shape.rank : axis
      guard (0...shape.rank).contains(place) else { throw misplaced([axis], shape) }
      return [sizes[..<place].reduce(1, *), sizes[place...].reduce(1, *)]
    case .removed(let axes):
      let places = try axes.map { list throws(StepError) in try self.places(list, rank: shape.rank, shape) }
      let left = sizes.indices.filter { axis in places.map { !$0.contains(axis) } ?? (sizes[axis] != 1) }
      guard left.map({ sizes[$0] }).reduce(1, *) == shape.count else { throw misplaced(axes ?? [], shape) }
      return Shape(left.map { sizes[$0] })
    case .inserted(let axes):
      let rank = shape.rank + axes.count
      let places = try places(axes, rank: rank, shape)
      guard places.count == axes.count else { throw misplaced(axes, shape) }
      var rest = sizes[...]
      return Shape((0..<rank).map { places.contains($0) ? 1 : rest.removeFirst() })
    }
  }

  private func places(_ axes: [Int], rank: Int, _ shape: Shape) throws(StepError) -> Set<Int> {
    let places = axes.map { $0 < 0 ? $0 + rank : $0 }
    guard places.allSatisfy((0..<rank).contains) else { throw misplaced(axes, shape) }
    return Set(places)
  }

  private func misplaced(_ axes: [Int], _ shape: Shape) -> StepError {
    refused(0, "texts [\(shape)] have no axes \(axes) for it", remedy: "give as many axes as the model names")
  }
}
