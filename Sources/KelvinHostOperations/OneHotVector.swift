package import KelvinGraph

/// Turns each element into a vector with 1 at the index of its category and 0 elsewhere. The shape gains a last axis.
package struct OneHotVector: OneInputOperation {
  package static let name = "one_hot_vector"
  package let categories: Column
  /// Whether an element without a category becomes a vector of zeros; otherwise it is refused.
  package let ignoresUnknown: Bool
  /// Whether the input is one element, which becomes a vector without other axes.
  package let isOne: Bool
  package let input: String
  package let output: String
  private let places: [Column.Key: Int]
  /// The greatest number of elements of a result.
  private static let countLimit = 1 << 28

  package init(_ categories: Column, ignoresUnknown: Bool, isOne: Bool = false, input: String, output: String) {
    self.categories = categories
    self.ignoresUnknown = ignoresUnknown
    self.isOne = isOne
    self.input = input
    self.output = output
    places = categories.places
  }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    guard let shape = inputs[0].shape else { return [.unknown] }
    return [.tensor(TensorType(.float32, try self.shape(shape)))]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (elements, shape) = try categories.elements(inputs[0], of: self, 0)
    let whole = try self.shape(shape)
    var vectors = [Float](repeating: 0, count: whole.count)
    for (index, element) in elements.enumerated() {
      if let place = places[element] {
        vectors[index * categories.count + place] = 1
      } else if !ignoresUnknown {
        throw refused(0, "\(element.description) is not a known category", remedy: "give one of \(categories.preview)")
      }
    }
    return [.tensor(Tensor(vectors, whole))]
  }

  private func shape(_ shape: Shape) throws(HostOperationError) -> Shape {
    guard isOne else {
      let whole = Shape(shape.dimensions + [categories.count])
      guard whole.isAddressable, whole.count <= Self.countLimit else {
        throw refused(0, "[\(whole)] is more than \(Self.countLimit) numbers", remedy: "give fewer")
      }
      return whole
    }
    guard shape.count == 1 else { throw refused(0, "it has \(shape.count) elements, expected one", remedy: "give one") }
    return [categories.count]
  }
}
