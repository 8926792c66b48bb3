import KelvinGraph
import KelvinImport

/// A mapper from a MIL operation to Kelvin's operators.
struct MILMapper: OperationMapper {
  let name: String
  /// The inputs whose elements must be known while the graph is built, because sizes depend on them.
  let valueDependentInputs: Set<String>
  /// The inputs whose elements must be known if the program does not declare the shape of the result.
  let valueDependentUnlessDeclared: Set<String>
  /// Whether the results depend only on the shapes of the inputs.
  let readsOnlyShapes: Bool
  /// Whether the operation has outputs whose size is known only after it ran.
  let hasDataDependentShape: Bool
  let map: @Sendable (MILOperation, MILScope) throws -> [ValueID]

  /// Creates a mapper for an operation with one output.
  ///
  /// - Parameter map: Emits the nodes and returns the operation's output.
  init(
    _ name: String, valueDependent: Set<String> = [], valueDependentUnlessDeclared: Set<String> = [],
    readsOnlyShapes: Bool = false,
    hasDataDependentShape: Bool = false, _ map: @escaping @Sendable (MILOperation, MILScope) throws -> ValueID
  ) {
    self.init(
      several: name, valueDependent: valueDependent, valueDependentUnlessDeclared: valueDependentUnlessDeclared,
      readsOnlyShapes: readsOnlyShapes,
      hasDataDependentShape: hasDataDependentShape
    ) { [try map($0, $1)] }
  }

  /// Creates a mapper for an operation with several outputs.
  ///
  /// - Parameter map: Emits the nodes and returns the operation's outputs.
  init(
    several name: String, valueDependent: Set<String> = [], valueDependentUnlessDeclared: Set<String> = [],
    readsOnlyShapes: Bool = false, hasDataDependentShape: Bool = false,
    _ map: @escaping @Sendable (MILOperation, MILScope) throws -> [ValueID]
  ) {
    self.name = name
    valueDependentInputs = valueDependent
    self.valueDependentUnlessDeclared = valueDependentUnlessDeclared
    self.readsOnlyShapes = readsOnlyShapes
    self.hasDataDependentShape = hasDataDependentShape
    self.map = map
  }

  static let byName: [String: MILMapper] = table(milMappers)
}

/// Accessors that mappers use to read an operation's inputs.
extension MILOperation {
  func value(_ input: String, _ scope: MILScope) throws -> ValueID {
    guard let id = try optional(input, scope) else { throw scope.emitter.invalid("input '\(input)' is missing") }
    return id
  }

  func optional(_ input: String, _ scope: MILScope) throws -> ValueID? {
    guard let binding = inputs[input]?.first else { return nil }
    return try scope.value(binding, self, input)
  }

  /// Returns the values of a tuple, which has at least one.
  func values(_ input: String, _ scope: MILScope) throws -> [ValueID] {
    guard let bindings = inputs[input], !bindings.isEmpty else {
      throw scope.emitter.invalid("input '\(input)' is missing")
    }
    var values: [ValueID] = []
    for binding in bindings { values.append(try scope.value(binding, self, input)) }
    return values
  }

  func text(_ input: String, _ scope: MILScope) throws -> String? {
    guard let binding = inputs[input]?.first else { return nil }
    guard let text = try scope.text(binding) else { throw scope.emitter.invalid("'\(input)' is not a constant string") }
    return text
  }

  func integers(_ input: String, _ scope: MILScope) throws -> [Int]? {
    try constant(input, scope, atMost: 1024)?.integers
  }

  /// Returns the integers of an input, or nil if the input is left out or depends on the model's inputs.
  func knownIntegers(_ input: String, _ scope: MILScope) throws -> [Int]? {
    guard let binding = inputs[input]?.first else { return nil }
    return try scope.tensor(binding, input, atMost: 1024)?.integers
  }

  func integer(_ input: String, _ scope: MILScope) throws -> Int? {
    try constant(input, scope, atMost: 1)?.integers.first
  }

  func number(_ input: String, _ scope: MILScope) throws -> Float? {
    try constant(input, scope, atMost: 1)?.floats.first
  }

  func flag(_ input: String, _ scope: MILScope) throws -> Bool { try integer(input, scope) ?? 0 != 0 }

  func flags(_ input: String, _ scope: MILScope) throws -> [Bool]? { try integers(input, scope)?.map { $0 != 0 } }

  /// Returns a mandatory argument, or throws if it is missing.
  func required<T>(_ value: T?, _ input: String, _ scope: MILScope) throws -> T {
    guard let value else { throw scope.emitter.invalid("input '\(input)' is missing") }
    return value
  }

  /// Returns a constant input of one element in its own type, or nil if the input is left out.
  func scalar(_ input: String, _ scope: MILScope) throws -> Tensor? {
    let tensor = try constant(input, scope, atMost: 1)
    guard tensor?.count != 0 else { throw scope.emitter.invalid("'\(input)' is empty, expected one element") }
    return tensor
  }

  /// Returns a constant input, or nil if it is left out.
  private func constant(_ input: String, _ scope: MILScope, atMost limit: Int) throws -> Tensor? {
    guard let binding = inputs[input]?.first else { return nil }
    guard let tensor = try scope.tensor(binding, input, atMost: limit) else {
      throw scope.emitter.invalid("'\(input)' depends on the model's inputs, expected a constant")
    }
    return tensor
  }
}
