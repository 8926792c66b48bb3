package import KelvinGraph

/// Gathers strings by their indices along an axis; negative indices count from the end.
package struct StringGather: OneOutputOperation {
  package static let name = "string_gather"

  package let strings: HostOperand<StringTensor>
  package let indices: HostOperand<[Int]>
  /// The axis; a negative one counts from the end.
  package let axis: Int
  /// Whether indices of any shape are a list; otherwise their axes replace `axis`.
  package let takesList: Bool
  package let output: String

  package init(
    _ strings: HostOperand<StringTensor>, at indices: HostOperand<[Int]>, axis: Int, takesList: Bool = false,
    output: String
  ) {
    self.strings = strings
    self.indices = indices
    self.axis = axis
    self.takesList = takesList
    self.output = output
  }

  package var inputs: [String] { [strings.slot, indices.slot].compactMap { $0 } }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    var picked: Shape?
    switch indices {
    case .constant(let list): picked = [list.count]
    case .slot: if case .tensor(let type)? = inputs.last { picked = type.shape }
    }
    guard let known = [strings].shapes(inputs)[0], let picked else { return [.unknown] }
    return [.strings(try shape(known, picked).whole)]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    var position = 0
    let strings = try strings([self.strings], inputs, from: &position)[0]
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
    let (axis, whole) = try shape(strings.shape, picked.shape)
    let length = strings.shape[axis]
    var list: [Int] = []
    for index in picked.list {
      guard (-length..<length).contains(index) else {
        throw refused(
          max(0, inputs.count - 1), "the index \(index) is outside \(length) strings", remedy: "give 0 to \(length - 1)"
        )
      }
      list.append(index < 0 ? index + length : index)
    }
    let inner = strings.shape.dimensions[(axis + 1)...].reduce(1, *)
    let outer = strings.shape.dimensions[..<axis].reduce(1, *)
    var gathered: [String] = []
    gathered.reserveCapacity(whole.count)
    for row in 0..<outer {
      for index in list {
        let start = (row * length + index) * inner
        gathered += strings.strings[start..<start + inner]
      }
    }
    return [.strings(StringTensor(gathered, whole))]
  }

  private func shape(_ strings: Shape, _ indices: Shape) throws(HostOperationError) -> (axis: Int, whole: Shape) {
    let place = axis < 0 ? axis + strings.rank : axis
    guard strings.dimensions.indices.contains(place) else {
      throw refused(0, "strings [\(strings)] have no axis \(axis)")
    }
    let picked = takesList ? [indices.count] : indices.dimensions
    let whole = Shape(Array(strings.dimensions[..<place]) + picked + Array(strings.dimensions[(place + 1)...]))
    guard StringTensor.takes(whole) else {
      throw refused(0, "[\(whole)] is more than \(StringTensor.countLimit) strings", remedy: "give fewer indices")
    }
    return (place, whole)
  }
}
