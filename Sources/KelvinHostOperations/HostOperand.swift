package import KelvinGraph

/// An operand of a host operation: a constant or a slot.
package enum HostOperand<Value: Hashable & Sendable>: Hashable, Sendable {
  case constant(Value)
  case slot(String)

  var slot: String? { if case .slot(let name) = self { name } else { nil } }
}

/// A host operation with one output.
package protocol OneOutputOperation: HostOperation {
  var output: String { get }
}

extension OneOutputOperation {
  package var outputs: [String] { [output] }
}

/// A host operation from one slot to one slot.
package protocol OneInputOperation: OneOutputOperation {
  var input: String { get }
}

extension OneInputOperation {
  package var inputs: [String] { [input] }
}

extension HostOperation {
  /// Returns the strings of operands: constants, or the inputs from a position on, which moves behind them.
  func strings(
    _ operands: [HostOperand<StringTensor>], _ inputs: [HostValue], from position: inout Int
  ) throws(HostOperationError) -> [StringTensor] {
    var strings: [StringTensor] = []
    for operand in operands {
      switch operand {
      case .constant(let constant): strings.append(constant)
      case .slot:
        strings.append(try self.strings(position, inputs))
        position += 1
      }
    }
    return strings
  }
}

extension [HostOperand<StringTensor>] {
  /// Returns the shapes of operands, of which slots have the given types; nil for a type that is not of strings.
  func shapes(_ types: some Sequence<HostType>) -> [Shape?] {
    var types = types.makeIterator()
    return map { operand in
      switch operand {
      case .constant(let strings): return strings.shape
      case .slot: if case .strings(let shape)? = types.next() { return shape } else { return nil }
      }
    }
  }
}

extension HostType {
  /// The shape of a tensor or of strings; nil for other types.
  var shape: Shape? {
    switch self {
    case .strings(let shape): shape
    case .tensor(let type): type.shape
    default: nil
    }
  }
}

extension Labels {
  /// Returns the labels at some indices, as a list.
  func value(at places: some Collection<Int>) -> HostValue {
    switch self {
    case .strings(let labels): .strings(StringTensor(places.map { labels[$0] }, [places.count]))
    case .integers(let labels): .tensor(Tensor(places.map { labels[$0] }, [places.count]))
    }
  }
}

extension StringTensor {
  /// Creates rows of equal length from lists, padded at their ends.
  ///
  /// - Parameter noun: The name of a list's strings, for errors.
  /// - Throws: `HostOperationError` for more strings than `countLimit`.
  init(
    _ rows: [[String]], _ shape: Shape, padding: String, _ noun: String, of step: some HostOperation
  ) throws(HostOperationError) {
    let most = rows.reduce(0) { max($0, $1.count) }
    let whole = Shape(shape.dimensions + [most])
    guard Self.takes(whole) else {
      throw step.refused(
        0, "\(rows.count) strings of up to \(most) \(noun) are more than \(Self.countLimit) strings",
        remedy: "give fewer or shorter ones")
    }
    self.init(rows.flatMap { $0 + [String](repeating: padding, count: most - $0.count) }, whole)
  }
}
