import KelvinBasics

/// An operation of an ML Program, as far as its constants matter.
struct ProgramOperation {
  /// A constant in the program, or in a weight file.
  struct Constant {
    /// The name of the elements' type.
    let type: String
    let shape: [Int]
    let part: ShippedTensor.Part
  }

  enum Operand {
    case constant(Constant)
    /// The output of another operation.
    case name(ExactString)
  }

  let kind: String
  let outputs: [(name: String, shape: [Int])]
  let operands: [(key: String, value: Operand)]
}

/// The constants of a function of an ML Program. The parts of a compressed weight, which `constexpr` operations join,
/// are one tensor.
struct ConstantTensors {
  /// A value that is known before the program runs.
  private struct Value {
    var name: String
    var shape: [Int]
    var coding: TensorCoding
    var parts: [ShippedTensor.Part]
    /// Whether it is part of another value.
    var isJoined = false
  }

  private var values: [Value] = []
  /// By name, the positions in `values`.
  private var places: [ExactString: Int] = [:]

  mutating func add(_ operation: ProgramOperation) {
    guard operation.kind == "const" || operation.kind.hasPrefix("constexpr_") else {
      for (key, operand) in operation.operands {
        guard case .constant(let constant) = operand else { continue }
        values.append(
          Value(
            name: "\(operation.outputs.first?.name ?? operation.kind).\(key)", shape: constant.shape,
            coding: .elements(constant.type), parts: [constant.part]))
      }
      return
    }
    var operands: [(key: String, value: Value)] = []
    for (key, operand) in operation.operands {
      switch operand {
      case .constant(let constant):
        operands.append(
          (key, Value(name: key, shape: constant.shape, coding: .elements(constant.type), parts: [constant.part])))
      case .name(let name):
        guard let place = places[name] else { continue }
        operands.append((key, values[place]))
        values[place].isJoined = true
      }
    }
    guard let first = operands.first?.value, let output = operation.outputs.last else { return }
    for output in operation.outputs { places[ExactString(output.name)] = values.count }
    values.append(
      Value(
        name: output.name, shape: output.shape, coding: Self.coding(operation.kind, operands) ?? first.coding,
        parts: operands.flatMap(\.value.parts)))
  }

  /// Returns the coding of the value that an operation joins.
  private static func coding(_ kind: String, _ operands: [(key: String, value: Value)]) -> TensorCoding? {
    func operand(_ keys: String...) -> Value? { operands.first { keys.contains($0.key) }?.value }
    switch kind {
    case "constexpr_lut_to_dense", "constexpr_lut_to_sparse":
      guard let shape = operand("lut")?.shape else { return nil }
      // From iOS 18 on, a table has an axis for vectors behind that of its entries.
      let entries = shape.count > 1 ? shape[shape.count - 2] : shape.first ?? 1
      let palette = TensorCoding.palette(
        bits: max(1, (max(entries, 1) - 1).bitWidth - (max(entries, 1) - 1).leadingZeroBitCount))
      if case .sparse? = operand("indices")?.coding { return .sparse(palette) }
      return palette
    case "constexpr_affine_dequantize", "constexpr_blockwise_shift_scale", "constexpr_sparse_blockwise_shift_scale":
      let data = operand("quantized_data", "data", "nonzero_data")?.coding
      if case .palette? = data { return data.map(TensorCoding.scaled) }
      return data
    case "constexpr_sparse_to_dense":
      let data = operand("nonzero_data")?.coding
      if case .sparse? = data { return data }
      return data.map(TensorCoding.sparse)
    case "constexpr_cast": return operand("source_val")?.coding
    default: return nil
    }
  }

  /// Adds the values that are not parts of others to a list.
  ///
  /// - Parameters:
  ///   - program: The name of the file with the program.
  ///   - least: The least number of bytes of a constant in that file. Smaller ones belong to the program's structure.
  func finish(_ list: inout ShippedTensors, program: ExactString, least: Int) {
    for value in values where !value.isJoined {
      let parts = value.parts.filter { $0.file != program || $0.byteCount >= least }
      list.add(value.name, value.shape, value.coding, parts)
    }
  }
}
