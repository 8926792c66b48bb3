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
  let map: @Sendable (MILContext) throws -> [ValueID]

  /// Creates a mapper for an operation with one output.
  ///
  /// - Parameter map: Emits the nodes and returns the operation's output.
  init(
    _ name: String, valueDependent: Set<String> = [], valueDependentUnlessDeclared: Set<String> = [],
    readsOnlyShapes: Bool = false, hasDataDependentShape: Bool = false,
    _ map: @escaping @Sendable (MILContext) throws -> ValueID
  ) {
    self.name = name
    valueDependentInputs = valueDependent
    self.valueDependentUnlessDeclared = valueDependentUnlessDeclared
    self.readsOnlyShapes = readsOnlyShapes
    self.hasDataDependentShape = hasDataDependentShape
    self.map = { [try map($0)] }
  }

  /// Creates a mapper for an operation with several outputs.
  ///
  /// - Parameter map: Emits the nodes and returns the operation's outputs.
  init(several name: String, _ map: @escaping @Sendable (MILContext) throws -> [ValueID]) {
    self.name = name
    (valueDependentInputs, valueDependentUnlessDeclared) = ([], [])
    (readsOnlyShapes, hasDataDependentShape) = (false, false)
    self.map = map
  }

  static let byName: [String: MILMapper] = table(milMappers)
}

/// The view of an operation that mappers use: its inputs, and the graph under construction.
struct MILContext {
  let operation: MILOperation
  let scope: MILScope

  var emitter: Emitter { scope.emitter }
  var outputs: [MILNamedType] { operation.outputs }
  /// The element type that the program declares for the first output.
  var declaredScalar: ScalarType? { outputs.first?.type.scalar }

  /// The input `x`, which most operations have.
  var x: ValueID { get throws { try value("x") } }

  func value(_ input: String) throws -> ValueID {
    guard let id = try optional(input) else { throw emitter.invalid("input '\(input)' is missing") }
    return id
  }

  func optional(_ input: String) throws -> ValueID? {
    try binding(input).map { try scope.value($0, operation, input) }
  }

  /// Returns the values of a tuple, which has at least one.
  func values(_ input: String) throws -> [ValueID] {
    guard let bindings = operation.inputs[input], !bindings.isEmpty else {
      throw emitter.invalid("input '\(input)' is missing")
    }
    return try bindings.map { try scope.value($0, operation, input) }
  }

  func text(_ input: String) throws -> String? {
    guard let binding = binding(input) else { return nil }
    guard let text = try scope.text(binding) else { throw emitter.invalid("'\(input)' is not a constant string") }
    return text
  }

  func integers(_ input: String) throws -> [Int]? { try constant(input, atMost: 1024)?.integers }

  /// Returns the integers of an input, or nil if the input is left out or depends on the model's inputs.
  func knownIntegers(_ input: String) throws -> [Int]? {
    try binding(input).flatMap { try scope.tensor($0, input, atMost: 1024)?.integers }
  }

  func integer(_ input: String) throws -> Int? { try constant(input, atMost: 1)?.integers.first }

  func number(_ input: String) throws -> Float? { try constant(input, atMost: 1)?.floats.first }

  func flag(_ input: String) throws -> Bool { try optionalFlag(input) ?? false }

  /// Returns a flag whose default depends on the operation; nil if it is left out.
  func optionalFlag(_ input: String) throws -> Bool? { try integer(input).map { $0 != 0 } }

  func flags(_ input: String) throws -> [Bool]? { try integers(input)?.map { $0 != 0 } }

  /// Returns a mandatory argument, or throws if it is missing.
  ///
  /// - Parameter read: Reads the argument, given its name.
  func required<T>(_ input: String, _ read: (String) throws -> T?) throws -> T {
    guard let value = try read(input) else { throw emitter.invalid("input '\(input)' is missing") }
    return value
  }

  /// Returns a constant input of one element in its own type, or nil if the input is left out.
  func scalar(_ input: String) throws -> Tensor? {
    let tensor = try constant(input, atMost: 1)
    guard tensor?.count != 0 else { throw emitter.invalid("'\(input)' is empty, expected one element") }
    return tensor
  }

  /// Returns an axis of x, counted from the front.
  ///
  /// - Parameter standard: The axis if the input is left out.
  func axis(_ input: String = "axis", default standard: Int, of x: ValueID) throws -> Int {
    try emitter.axis(try integer(input) ?? standard, of: x)
  }

  private func binding(_ input: String) -> MILOperation.Binding? { operation.inputs[input]?.first }

  /// Returns a constant input, or nil if it is left out.
  private func constant(_ input: String, atMost limit: Int) throws -> Tensor? {
    guard let binding = binding(input) else { return nil }
    guard let tensor = try scope.tensor(binding, input, atMost: limit) else {
      throw emitter.invalid("'\(input)' depends on the model's inputs, expected a constant")
    }
    return tensor
  }
}
