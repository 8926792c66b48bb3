import Foundation
import Kelvin

/// Operators that run together as one model.
///
/// A run sorts the pending operators and cuts them into programs of a limited size, so that the time of compiling a long
/// chain is proportional to its length. Values that a later program or the holder of a tensor needs are outputs.
struct TensorProgram {
  /// The most operators of a program.
  static let sizeLimit = 256

  private struct Step {
    let node: TensorNode
    let operation: TensorOperation
  }

  /// Returns the values of nodes, and keeps them. Runs the pending operators, which cancelling the task does not end.
  static func values(of nodes: [TensorNode]) async throws -> [MultiArray] {
    let known = nodes.compactMap(\.value)
    if known.count == nodes.count { return known }
    let units = (MLComputePolicy.current ?? nodes.lazy.compactMap(\.policy).first)?.computeUnits ?? .all
    return try await Task.detached(priority: Task.currentPriority) {
      try await run(nodes, units)
      return nodes.map { $0.value! }
    }.value
  }

  private static func run(_ targets: [TensorNode], _ units: MLComputeUnits) async throws {
    let steps = steps(before: targets)
    // The last program that reads each node; a target is read after all.
    var lastUses: [ObjectIdentifier: Int] = [:]
    for (index, step) in steps.enumerated() {
      for operand in step.operation.operands { lastUses[ObjectIdentifier(operand)] = index / sizeLimit }
    }
    for target in targets { lastUses[ObjectIdentifier(target)] = .max }
    for start in stride(from: 0, to: steps.count, by: sizeLimit) {
      var program = TensorProgram()
      for step in steps[start..<min(start + sizeLimit, steps.count)] {
        program.add(step, isOutput: lastUses[ObjectIdentifier(step.node), default: .max] > start / sizeLimit)
      }
      try await program.run(units)
    }
  }

  /// Returns the pending operators that nodes depend on, each after its operands. Does not use recursion: a chain may be
  /// longer than the stack.
  private static func steps(before nodes: [TensorNode]) -> [Step] {
    enum Visit {
      case enter(TensorNode)
      case leave(Step)
    }
    var steps: [Step] = []
    var entered: Set<ObjectIdentifier> = []
    var visits = nodes.reversed().map(Visit.enter)
    while let visit = visits.popLast() {
      switch visit {
      case .leave(let step): steps.append(step)
      case .enter(let node):
        guard let operation = node.operation, entered.insert(ObjectIdentifier(node)).inserted else { continue }
        visits.append(.leave(Step(node: node, operation: operation)))
        visits += operation.operands.reversed().map(Visit.enter)
      }
    }
    return steps
  }

  private var writer = ONNXWriter()
  private var names: [ObjectIdentifier: String] = [:]
  private var inputs: [String: FeatureValue] = [:]
  private var outputs: [(name: String, node: TensorNode)] = []
  private var constantCount = 0

  private mutating func add(_ step: Step, isOutput: Bool) {
    let operands = step.operation.inputs.map { name(of: $0) }
    let result = "t\(names.count)"
    names[ObjectIdentifier(step.node)] = result
    writer.addNode(
      step.operation.kind, inputs: operands,
      outputs: [String](repeating: "", count: step.operation.output) + [result], step.operation.attributes)
    guard isOutput || step.node.isHeld else { return }
    writer.addOutput(result, step.node.shape, step.node.type)
    outputs.append((result, step.node))
  }

  private mutating func name(of input: TensorOperation.Input) -> String {
    switch input {
    case .omitted: return ""
    case .integers(let integers): return constant([integers.count], .int64, integers.withUnsafeBytes(Array.init))
    case .integer(let integer): return constant([], .int64, withUnsafeBytes(of: integer, Array.init))
    case .node(let node):
      if let name = names[ObjectIdentifier(node)] { return name }
      guard let value = node.value else { preconditionFailure("an operand of a program has a value") }
      let name: String
      if node.isLiteral || node.shape.contains(0) {
        name = constant(node.shape, node.type, value.withUnsafeBytes(Array.init))
      } else {
        name = "t\(names.count)"
        writer.addInput(name, node.shape, node.type)
        inputs[name] = FeatureValue(multiArray: value)
      }
      names[ObjectIdentifier(node)] = name
      return name
    }
  }

  private mutating func constant(_ shape: [Int], _ type: MultiArrayDataType, _ bytes: [UInt8]) -> String {
    defer { constantCount += 1 }
    writer.addConstant("c\(constantCount)", shape, type, bytes)
    return "c\(constantCount)"
  }

  private func run(_ units: MLComputeUnits) async throws {
    let model = try await TensorModels.shared.model(writer.model, units)
    let results = try await model.prediction(from: inputs)
    for (name, node) in outputs {
      guard let value = results[name]?.multiArrayValue, value.shape == node.shape, value.dataType == node.type else {
        preconditionFailure(
          "the result '\(name)' of \(results) is not of shape \(node.shape) and \(node.type.rawValue)")
      }
      node.settle(value)
    }
  }
}

/// The compiled programs of the process, by their bytes.
package actor TensorModels {
  package static let shared = TensorModels()
  /// The most models that are kept. The one that was not used for the longest time is released first.
  static let countLimit = 64

  private struct Key: Hashable {
    let specification: [UInt8]
    let units: MLComputeUnits

    func hash(into hasher: inout Hasher) { specification.withUnsafeBytes { hasher.combine(bytes: $0) } }
  }

  private var models: [Key: (model: Task<Model, any Error>, lastUse: Int)] = [:]
  private var useCount = 0
  /// The number of programs that were compiled so far.
  package private(set) var compilationCount = 0

  func model(_ specification: [UInt8], _ units: MLComputeUnits) async throws -> Model {
    let key = Key(specification: specification, units: units)
    useCount += 1
    if let (model, _) = models[key] {
      models[key]?.lastUse = useCount
      return try await model.value
    }
    compilationCount += 1
    let options = MLModelConfiguration()
    options.computeUnits = units
    options.kelvin.usesCache = false
    options.kelvin.isolation = .none
    let (asset, configuration) = (try ModelAsset(specification: Data(specification)), options.kelvin)
    let model = Task.detached { try await Model.load(asset: asset, configuration: configuration) }
    models[key] = (model, useCount)
    if models.count > Self.countLimit, let oldest = models.min(by: { $0.value.lastUse < $1.value.lastUse }) {
      models[oldest.key] = nil
    }
    do { return try await model.value } catch {
      models[key] = nil
      throw error
    }
  }
}
