import KelvinGraph
import KelvinImport

/// The default function of an ML Program as a stage of a pipeline.
struct ProgramStage: ModelStage {
  let inputs: [Feature]
  let outputs: [Feature]
  private let program: MILProgram
  private let source: MILGraphSource
  private let classification: MILClassification?
  private let files: ModelFiles

  init(
    _ model: CoreMLModel, _ inputs: [Feature], _ outputs: [Feature], file: String, weights: ModelFiles
  ) throws(FormatError) {
    self.inputs = inputs
    self.outputs = outputs
    files = weights
    program = try MILProgram(model.contents)
    let name = model.description.defaultFunction
    guard let function = program.functions[name] ?? program.functions["main"] else {
      throw FormatError(.malformed, file: file, "its program has no function '\(name)'")
    }
    classification = try MILClassification(function.block, weights, file: file)
    source = MILGraphSource(
      function: function, inputs: inputs, outputs: outputs.map(\.name), file: file, files: weights)
  }

  var structure: SourceStructure { .program(functions: program.functions.mapValues(\.structure)) }
  var labels: Labels? { classification?.labels }

  func findMissing(_ missing: inout MissingOperations) { source.findMissing(&missing) }

  func emit(_ emitter: Emitter, _ values: [String: ValueID]) throws -> [String: ValueID] {
    let scope = MILScope(emitter, source.function, files)
    for input in source.function.inputs {
      guard let id = values[input.name] else {
        throw GraphError("function 'main'", "nothing computes its input '\(input.name)'")
      }
      try scope.define(input.name, try enter(id, input, scope), by: "function")
    }
    try source.emit(scope)
    var result: [String: ValueID] = [:]
    for feature in outputs where feature.name != classification?.labelOutput {
      guard feature.name != classification?.probabilitiesOutput else { continue }
      let id = try scope.value(feature.name, reader: "output '\(feature.name)'")
      guard emitter.extents[id] == nil else {
        throw GraphError(
          "output '\(feature.name)'",
          "its size depends on data, which is not supported within a pipeline; run that model separately")
      }
      result[feature.name] = id
    }
    if let classification {
      result[StageSlot.scores] = try scope.value(classification.probabilities, reader: "classify")
    }
    return result
  }

  /// Returns a feature in the type that the function takes.
  private func enter(_ id: ValueID, _ input: MILNamedType, _ scope: MILScope) throws -> ValueID {
    guard let type = input.type.tensorType else { return id }
    scope.emitter.begin(Origin(name: input.name, kind: "input", index: 0), outputNames: [])
    guard type.count == scope.emitter.shape(id).count else {
      throw scope.emitter.invalid("expected \(type), got \(scope.emitter.type(id))")
    }
    let cast = try scope.emitter.cast(id, to: type.scalar, step: type.scalar.rawValue)
    return try scope.emitter.reshape(cast, type.shape, step: "shape")
  }
}
