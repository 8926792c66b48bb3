package import KelvinBasics
package import KelvinGraph

/// Maps each string to a list of integers (`StringToVector` of onnxruntime-extensions). The list is a last axis.
package struct StringVectors: SlotOperation {
  package static let name = "string_vectors"
  package let vectors: [ExactString: [Int64]]
  /// The list of strings that are no key.
  package let unknown: [Int64]
  package let slots: HostSlots

  package init(_ vectors: [ExactString: [Int64]], unknown: [Int64], _ slots: HostSlots) {
    self.vectors = vectors
    self.unknown = unknown
    self.slots = slots
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let strings = try strings(0, inputs)
    let shape = try checked(Shape(strings.shape.dimensions + [unknown.count]), at: 0)
    return [.tensor(Tensor(strings.strings.flatMap { vectors[ExactString($0)] ?? unknown }, shape))]
  }
}

/// Maps each list of integers to a string (`VectorToString` of onnxruntime-extensions). The lists are the last axis;
/// lists of one integer may also be the elements of a tensor with one axis.
package struct VectorStrings: SlotOperation {
  package static let name = "vector_strings"
  package let strings: [[Int64]: ExactString]
  /// The number of integers of a list.
  package let length: Int
  /// The string of lists that are no key.
  package let unknown: ExactString
  package let slots: HostSlots

  /// Creates the operation.
  ///
  /// - Precondition: Lists are not empty.
  package init(_ strings: [[Int64]: ExactString], length: Int, unknown: ExactString, _ slots: HostSlots) {
    precondition(length > 0)
    self.strings = strings
    self.length = length
    self.unknown = unknown
    self.slots = slots
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let tensor = try integers(0, inputs)
    var shape = tensor.shape
    if length > 1 || shape.rank > 1 {
      guard shape.dimensions.last == length else {
        throw refused(0, "expected a last axis of \(length) integers, got \(tensor.type)")
      }
      shape.dimensions.removeLast()
    }
    let words = tensor.words
    let found = stride(from: 0, to: words.count, by: length).map { start in
      (strings[Array(words[start..<start + length])] ?? unknown).string
    }
    return [try limited(found, shape)]
  }
}
