package import KelvinGraph

/// The slots that a host operation reads and writes.
package struct HostSlots: Hashable, Sendable {
  package let inputs: [String]
  package let outputs: [String]

  package init(inputs: [String], outputs: [String]) {
    self.inputs = inputs
    self.outputs = outputs
  }
}

/// A host operation with any number of inputs and outputs. All operands are slots, also those that models usually give
/// as constants.
package protocol SlotOperation: HostOperation {
  var slots: HostSlots { get }
}

extension SlotOperation {
  package var inputs: [String] { slots.inputs }
  package var outputs: [String] { slots.outputs }

  /// Returns the string of an input with one string.
  func string(_ position: Int, _ inputs: [HostValue]) throws(HostOperationError) -> String {
    let strings = try strings(position, inputs)
    guard strings.strings.count == 1 else {
      throw refused(position, "expected one string, got \(strings.strings.count)")
    }
    return strings.strings[0]
  }

  /// Returns the integers of an input.
  func integers(_ position: Int, _ inputs: [HostValue]) throws(HostOperationError) -> Tensor {
    let tensor = try tensor(position, inputs)
    guard !tensor.type.scalar.isFloatingPoint else {
      throw refused(position, "expected integers, got \(tensor.type)")
    }
    return tensor
  }

  /// Returns the integers of an input `[n]` or `[1, n]`.
  func integerRow(_ position: Int, _ inputs: [HostValue]) throws(HostOperationError) -> Tensor {
    let tensor = try integers(position, inputs)
    guard tensor.shape.rank == 1 || tensor.shape.rank == 2 && tensor.shape[0] == 1 else {
      throw refused(position, "expected integers [n] or [1, n], got \(tensor.type)")
    }
    return tensor
  }

  /// Returns the integer of an input with one element; the fallback if the input is omitted.
  func integer(_ position: Int, _ inputs: [HostValue], or fallback: Int? = nil) throws(HostOperationError) -> Int {
    if let fallback, !inputs.indices.contains(position) { return fallback }
    let tensor = try integers(position, inputs)
    guard tensor.count == 1 else { throw refused(position, "expected one element, got \(tensor.type)") }
    return tensor.integers[0]
  }

  /// Returns strings as the value of an output, if their number and their bytes are within the limits.
  func limited(_ strings: [String], _ shape: Shape? = nil) throws(HostOperationError) -> HostValue {
    let shape = shape ?? [strings.count]
    guard StringTensor.takes(shape), strings.reduce(0, { $0 + $1.utf8.count }) <= StringTensor.byteLimit else {
      throw refused(
        0, "the result is more than \(StringTensor.countLimit) strings or \(StringTensor.byteLimit) bytes",
        remedy: "give fewer or shorter strings")
    }
    return .strings(StringTensor(strings, shape))
  }

  /// Checks the size of a tensor that the operation makes.
  func checked(_ shape: Shape, at position: Int) throws(HostOperationError) -> Shape {
    guard shape.isAddressable, shape.count <= StringTensor.byteLimit else {
      throw refused(
        position, "the result [\(shape)] has more than \(StringTensor.byteLimit) elements", remedy: "give fewer")
    }
    return shape
  }
}

extension HostValue {
  /// A list of 64-bit integers.
  static func list(_ integers: [Int]) -> HostValue {
    .tensor(Tensor(integers.map { Int64($0) }, [integers.count]))
  }
}
