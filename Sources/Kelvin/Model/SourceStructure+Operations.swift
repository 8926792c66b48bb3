import KelvinGraph

extension SourceStructure {
  /// A function's operations in the file's order, those in blocks inside operations after the operation. A file without
  /// functions has the same for every name.
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

  /// A function's operations that compute: constants are data.
  func computations(of function: String) -> [SourceOperation] {
    operations(of: function).filter { operation in
      let kind = operation.kind.split(separator: ".").last ?? ""
      return kind != "const" && kind != "Constant"
    }
  }

  /// How often each kind of operation that computes occurs in a function.
  func kinds(of function: String) -> [String: Int] {
    computations(of: function).reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
  }
}
