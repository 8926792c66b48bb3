package import KelvinGraph

/// Turns a sequence of tensors, or an optional value, into the inputs of graphs: the concatenated elements of all
/// tensors, and their layout.
package struct SequenceParts: HostOperation {
  package static let name = "sequence_parts"
  package let scalar: ScalarType
  package let input: String
  /// The separator in the slots' names: ``SequenceLayout/slots(of:mark:)``.
  package let mark: String

  package init(of input: String, _ scalar: ScalarType, mark: String) {
    self.input = input
    self.scalar = scalar
    self.mark = mark
  }

  package var inputs: [String] { [input] }
  package var outputs: [String] {
    let slots = SequenceLayout.slots(of: input, mark: mark)
    return [slots.elements, slots.layout]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    var tensors: [Tensor] = []
    let kind: SequenceLayout.Kind
    switch inputs[0] {
    case .absent: kind = .absent
    case .tensor(let tensor): (kind, tensors) = (.tensor, [tensor])
    case .sequence(let elements):
      kind = .sequence
      for element in elements { tensors.append(try tensor(0, element)) }
    case let other: throw refused(0, "expected a sequence of tensors, got \(other.type)")
    }
    let converted = tensors.map { $0.converted(to: scalar) }
    guard let layout = SequenceLayout(kind, converted.map(\.shape)) else {
      throw refused(0, "its tensors have more elements than can be addressed")
    }
    let type = TensorType(scalar, [layout.count])
    let joined = Bytes(count: type.byteCount) { memory in
      var place = 0
      for tensor in converted {
        tensor.bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: memory[place...]).copyMemory(from: $0) }
        place += tensor.type.byteCount
      }
    }
    return [.tensor(Tensor(type, joined)), .tensor(layout.tensor)]
  }
}

/// Turns the outputs of a graph for a sequence of tensors, or an optional value, into the value itself.
package struct SequenceOfParts: OneOutputOperation {
  package static let name = "sequence_of_parts"
  package let output: String
  /// The separator in the slots' names: ``SequenceLayout/slots(of:mark:)``.
  package let mark: String

  package init(_ output: String, mark: String) {
    self.output = output
    self.mark = mark
  }

  package var inputs: [String] {
    let slots = SequenceLayout.slots(of: output, mark: mark)
    return [slots.elements, slots.layout]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let elements = try tensor(0, inputs)
    guard let layout = SequenceLayout(try tensor(1, inputs)), layout.count <= elements.count else {
      throw refused(1, "it is not a valid layout of \(elements.type)")
    }
    let scalar = elements.type.scalar
    var tensors: [Tensor] = []
    var place = 0
    for shape in layout.shapes {
      let type = TensorType(scalar, shape)
      guard let bytes = elements.bytes.slice(offset: place, count: type.byteCount) else {
        throw refused(0, "it ends before \(type)")
      }
      tensors.append(Tensor(type, bytes))
      place += type.byteCount
    }
    switch layout.kind {
    case .absent: return [.absent]
    case .tensor: return [.tensor(tensors[0])]
    case .sequence: return [.sequence(tensors.map { .tensor($0) })]
    }
  }
}
