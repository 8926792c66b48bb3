import KelvinGraph
import KelvinImport

extension MILFunction {
  /// Returns the function with those writes marked that may make a list longer: writes to lists made with
  /// `dynamic_length`. The types of lists do not carry this property.
  func markingGrowingLists(_ files: ModelFiles) throws(FormatError) -> MILFunction {
    guard block.makesLists else { return self }
    var function = self
    var lists = MILGrowingLists(files: files)
    try lists.mark(&function.block)
    return function
  }
}

private struct MILGrowingLists {
  let files: ModelFiles
  /// The names of constants that are true.
  private var truths: Set<String> = []
  /// The names of lists that may grow.
  private var names: Set<String> = []

  init(files: ModelFiles) { self.files = files }

  mutating func mark(_ block: inout MILBlock) throws(FormatError) {
    for index in block.operations.indices { try mark(&block.operations[index]) }
  }

  private mutating func mark(_ operation: inout MILOperation) throws(FormatError) {
    let outputs = operation.outputs.map(\.name)
    func given(_ input: String) -> [MILOperation.Binding] { operation.inputs[input] ?? [] }
    switch operation.kind {
    case "const":
      if let value = operation.attributes["val"], try isTrue(value, operation.name) { truths.formUnion(outputs) }
    case "make_list":
      switch given("dynamic_length").first {
      case .name(let name)?: if truths.contains(name) { names.formUnion(outputs) }
      case .value(let value)?: if try isTrue(value, operation.name) { names.formUnion(outputs) }
      // A compiled program's text leaves the argument out.
      case nil: names.formUnion(outputs)
      }
    case "list_write", "list_scatter":
      operation.growsList = given("ls").contains { $0.name.map(names.contains) ?? false }
      if operation.growsList { names.formUnion(outputs) }
    case "identity":
      if given("x").contains(where: { $0.name.map(names.contains) ?? false }) { names.formUnion(outputs) }
    default:
      for (index, binding) in given("loop_vars").enumerated() {
        guard let name = binding.name, names.contains(name) else { continue }
        names.formUnion(operation.blocks.compactMap { index < $0.inputs.count ? $0.inputs[index].name : nil })
      }
      for index in operation.blocks.indices { try mark(&operation.blocks[index]) }
      for block in operation.blocks {
        // The condition of a loop has a boolean output, never a list.
        names.formUnion(zip(block.outputs, outputs).filter { names.contains($0.0) }.map { $0.1 })
      }
    }
  }

  private func isTrue(_ value: MILValue, _ name: String) throws(FormatError) -> Bool {
    guard value.type.tensorType == TensorType(.bool, []) else { return false }
    return try value.tensor(files, name: name).integers.first.map { $0 != 0 } ?? false
  }
}

extension MILBlock {
  fileprivate var makesLists: Bool {
    operations.contains { $0.kind == "make_list" || $0.blocks.contains(where: \.makesLists) }
  }

  fileprivate var growsLists: Bool { operations.contains(where: \.growsLists) }
}

extension MILOperation {
  /// Whether the operation, or one in its blocks, may make a list longer.
  var growsLists: Bool { growsList || blocks.contains(where: \.growsLists) }
}
