import KelvinGraph

extension SourceStructure {
  /// Returns a function's operations in the file's order. Operations in nested blocks follow the operation that
  /// contains them. A file without functions gives the same result for every name.
  func operations(of function: String) -> [SourceOperation] {
    func flatten(_ operations: [SourceOperation]) -> [SourceOperation] {
      operations.flatMap { [$0] + $0.blocks.flatMap { flatten($0.operations) } }
    }
    return switch self {
    case .program(let functions): flatten(functions[function]?.operations ?? [])
    case .network(let layers): flatten(layers)
    case .pipeline(let stages): stages.flatMap { $0.structure.operations(of: function) }
    }
  }

  /// Returns a function's operations without constants.
  func computations(of function: String) -> [SourceOperation] {
    operations(of: function).filter { operation in
      let kind = operation.kind.split(separator: ".").last ?? ""
      return kind != "const" && kind != "Constant"
    }
  }

  /// Counts each kind of operation in a function, without constants.
  func kinds(of function: String) -> [String: Int] {
    computations(of: function).reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
  }
}
