public import FoundationEssentials
import KelvinEngine
public import KelvinFeatures
import KelvinGraph
import KelvinImport

/// What a model file consists of, by its own names.
public enum ModelStructure: Sendable {
  /// A Core ML ML Program.
  case program(Program)
  /// A flat list of layers: Core ML's NeuralNetwork, or an ONNX graph.
  case neuralNetwork(NeuralNetwork)
  /// Models in a row.
  case pipeline(Pipeline)
  /// A model of a kind that Kelvin does not run, with the reason.
  case unsupported(String)

  /// Reads what a model file consists of, without building or planning anything.
  ///
  /// - Throws: `ModelError` with code `io` where the file cannot be read or is not a model.
  public static func load(contentsOf url: URL) async throws(ModelError) -> ModelStructure {
    try await BlockingWork.run { (_) throws(ModelError) -> ModelStructure in
      do throws(FormatError) {
        return ModelStructure(try readModel(at: url.path).structure)
      } catch {
        // A file that no format claims is not a model at all.
        guard error.code == .unsupported, formats.contains(where: { $0.sniff(url.path) }) else {
          throw ModelError(error)
        }
        return .unsupported(error.description)
      }
    }
  }

  /// Reads what an asset's model consists of.
  ///
  /// - Throws: `ModelError` with code `io` where the file cannot be read or is not a model.
  public static func load(asset: ModelAsset) async throws(ModelError) -> ModelStructure {
    guard let memory = asset.memory else { return try await load(contentsOf: asset.url) }
    return try await BlockingWork.run { (_) throws(ModelError) -> ModelStructure in
      try ModelError.wrapping { ModelStructure(try readModel(memory.formatted).structure) }
    }
  }

  /// An ML Program: functions of blocks of operations.
  public struct Program: Sendable {
    /// The functions that can be called, by name.
    public let functions: [String: Function]

    /// A function.
    public struct Function: Sendable {
      /// The names of its inputs.
      public let inputs: [String]
      /// What it does.
      public let block: Block
    }

    /// Operations in order.
    public struct Block: Hashable, Sendable {
      /// The names of the values that enter; a function's block has those of the function.
      public let inputs: [String]
      /// The names of the values that leave.
      public let outputNames: [String]
      /// The operations, in the file's order.
      public let operations: [Operation]
    }

    /// What an operation reads under one name.
    public struct Argument: Hashable, Sendable {
      /// The name: `x`, `weight`.
      public let name: String
      /// The names of the values, of which a list has several; nil for one that is written in the operation itself.
      public let values: [String?]
    }

    /// One operation.
    public struct Operation: Hashable, Sendable {
      /// The operation's own name.
      public let name: String
      /// What it does, with its operator set: `ios16.conv`; a constant is `const`.
      public let operatorName: String
      /// The names of the values it reads, constants included, in the order of its arguments' names.
      public let inputs: [String]
      /// The same by its arguments, ordered by their names.
      public let arguments: [Argument]
      /// The names of the values it makes.
      public let outputs: [String]
      /// What it runs inside: branches of a condition, the body of a loop.
      public let blocks: [Block]
    }
  }

  /// Layers in order.
  public struct NeuralNetwork: Sendable {
    /// The layers, in the file's order.
    public let layers: [Layer]

    /// One layer.
    public struct Layer: Hashable, Sendable {
      /// The layer's own name, or that of its first output where it has none.
      public let name: String
      /// What it does, by the format's name: `convolution`, `Conv`.
      public let type: String
      /// The names of the values it reads.
      public let inputNames: [String]
      /// The names of the values it makes.
      public let outputNames: [String]
    }
  }

  /// Models in a row: what one gives, later ones take.
  public struct Pipeline: Sendable {
    /// The models' names.
    public let subModelNames: [String]
    /// What each consists of.
    public let subModels: [ModelStructure]
  }

  init(_ structure: SourceStructure) {
    switch structure {
    case .program(let functions):
      self = .program(
        Program(functions: functions.mapValues { Program.Function(inputs: $0.inputs, block: Program.Block($0)) }))
    case .network(let layers):
      self = .neuralNetwork(
        NeuralNetwork(
          layers: layers.map {
            NeuralNetwork.Layer(name: $0.name, type: $0.kind, inputNames: $0.inputs, outputNames: $0.outputs)
          }))
    case .pipeline(let stages):
      self = .pipeline(
        Pipeline(subModelNames: stages.map(\.name), subModels: stages.map { ModelStructure($0.structure) }))
    }
  }
}

extension ModelStructure.Program.Block {
  init(_ block: SourceBlock) {
    inputs = block.inputs
    outputNames = block.outputs
    operations = block.operations.map { operation in
      ModelStructure.Program.Operation(
        name: operation.name, operatorName: operation.kind, inputs: operation.inputs,
        arguments: operation.arguments.map { ModelStructure.Program.Argument(name: $0.name, values: $0.values) },
        outputs: operation.outputs, blocks: operation.blocks.map(Self.init))
    }
  }
}
