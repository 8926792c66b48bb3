package import KelvinGraph

/// Texts by their indices along an axis, counted from the end where they are negative: the text of an index.
package struct TextGather: HostStep {
  package static let name = "text_gather"

  package let texts: StepOperand<TextTensor>
  package let indices: StepOperand<[Int]>
  /// Counted from the end where it is negative.
  package let axis: Int
  /// Whether indices of any shape are a list; else their axes take the place of `axis`.
  package let takesList: Bool
  package let output: String

  package init(
    _ texts: StepOperand<TextTensor>, at indices: StepOperand<[Int]>, axis: Int, takesList: Bool = false, output: String
  ) {
    self.texts = texts
    self.indices = indices
    self.axis = axis
    self.takesList = takesList
    self.output = output
  }

  package var inputs: [String] { [texts.slot, indices.slot].compactMap { $0 } }
  package var outputs: [String] { [output] }

  package func types(_ inputs: [HostType]) throws(StepError) -> [HostType] {
    var (known, picked): (Shape?, Shape?)
    var pending = inputs[...]
    switch texts {
    case .constant(let texts): known = texts.shape
    case .slot: if case .texts(let shape)? = pending.popFirst() { known = shape }
    }
    switch indices {
    case .constant(let list): picked = [list.count]
    case .slot: if case .tensor(let type)? = pending.popFirst() { picked = type.shape }
    }
    guard let known, let picked else { return [.unknown] }
    return [.texts(try shape(known, picked).whole)]
  }

  package func run(_ inputs: [HostValue]) throws(StepError) -> [HostValue] {
    let texts: TextTensor
    var position = 0
    switch self.texts {
    case .constant(let known): texts = known
    case .slot:
      texts = try self.texts(0, inputs)
      position = 1
    }
    let picked: (list: [Int], shape: Shape)
    switch indices {
    case .constant(let list): picked = (list, [list.count])
    case .slot:
      let tensor = try tensor(position, inputs)
      if let strange = tensor.doubles.first(where: { $0.rounded() != $0 }) {
        throw refused(position, "\(strange) is not an index", remedy: "give whole numbers")
      }
      picked = (tensor.integers, tensor.shape)
    }
    let (axis, whole) = try shape(texts.shape, picked.shape)
    let length = texts.shape[axis]
    var list: [Int] = []
    for index in picked.list {
      guard (-length..<length).contains(index) else {
        throw refused(
          max(0, inputs.count - 1), "the index \(index) is outside \(length) texts", remedy: "give 0 to \(length - 1)")
      }
      list.append(index < 0 ? index + length : index)
    }
    let inner = texts.shape.dimensions[(axis + 1)...].reduce(1, *)
    let outer = texts.shape.dimensions[..<axis].reduce(1, *)
    var gathered: [String] = []
    gathered.reserveCapacity(whole.count)
    for row in 0..<outer {
      for index in list {
        let start = (row * length + index) * inner
        gathered += texts.texts[start..<start + inner]
      }
    }
    return [.texts(TextTensor(gathered, whole))]
  }

  private func shape(_ texts: Shape, _ indices: Shape) throws(StepError) -> (axis: Int, whole: Shape) {
    let place = axis < 0 ? axis + texts.rank : axis
    guard texts.dimensions.indices.contains(place) else { throw refused(0, "texts [\(texts)] have no axis \(axis)") }
    let picked = takesList ? [indices.count] : indices.dimensions
    let whole = Shape(Array(texts.dimensions[..<place]) + picked + Array(texts.dimensions[(place + 1)...]))
    guard TextTensor.takes(whole) else {
      throw refused(0, "[\(whole)] is more than \(TextTensor.countLimit) texts", remedy: "give fewer indices")
    }
    return (place, whole)
  }
}
