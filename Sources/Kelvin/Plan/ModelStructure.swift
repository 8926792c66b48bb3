public import FoundationEssentials
import KelvinEngine
public import KelvinFeatures
import KelvinGraph
import KelvinImport

/// The structure of a model file, with the file's own names.
public enum ModelStructure: Sendable {
  /// A Core ML ML Program.
  case program(Program)
  /// A flat list of layers: Core ML's NeuralNetwork, or an ONNX graph.
  case neuralNetwork(NeuralNetwork)
  /// Models that run in order.
  case pipeline(Pipeline)
  /// A model of a kind that Kelvin does not run, with the reason.
  case unsupported(String)

  /// Reads the structure of a model file, without building or planning anything.
  ///
  /// - Throws: `ModelError` with code `io` if the file cannot be read or is not a model.
  public static func load(contentsOf url: URL) async throws(ModelError) -> ModelStructure {
    try await BlockingWork.run { (_) throws(ModelError) -> ModelStructure in
      do throws(FormatError) {
        return ModelStructure(try readModel(at: url.path).structure)
      } catch {
        // A file that no format recognizes is not a model.
        guard error.code == .unsupported, isModel(url.path) else {
          throw ModelError(error)
        }
        return .unsupported(error.description)
      }
    }
  }

  /// Reads the structure of an asset's model.
  ///
  /// - Throws: `ModelError` with code `io` if the file cannot be read or is not a model.
  public static func load(asset: ModelAsset) async throws(ModelError) -> ModelStructure {
    guard let memory = asset.memory else { return try await load(contentsOf: asset.url) }
    return try await BlockingWork.run { (_) throws(ModelError) -> ModelStructure in
      try ModelError.wrapping { ModelStructure(try readModel(memory.formatted).structure) }
    }
  }

  /// An ML Program: functions that consist of blocks of operations.
  public struct Program: Sendable {
    /// The program's functions, by name.
    public let functions: [String: Function]

    /// A function of a program.
    public struct Function: Sendable {
      /// The function's inputs.
      public let inputs: [NamedValueType]
      /// The function's body.
      public let block: Block
    }

    /// The type of a value.
    public struct ValueType: Hashable, Sendable, CustomStringConvertible {
      let source: SourceType

      /// The type of a tensor's elements; nil for a value that is no tensor of numbers, such as a string or a list.
      public var dataType: MultiArrayDataType? { source.scalar.map { MultiArrayDataType($0) } }
      /// A tensor's sizes; nil for an unknown size.
      public var shape: [Int?] { source.sizes }
      /// Whether the value is a state that holds a tensor of this type.
      public var isState: Bool { source.isState }

      /// The type as in `float16 1x3x224x224`, with `?` for an unknown size.
      public var description: String {
        guard let scalar = source.scalar else { return "no tensor" }
        let sizes = source.sizes.map { $0.map(String.init) ?? "?" }.joined(separator: "x")
        return "\(isState ? "state of " : "")\(scalar)\(sizes.isEmpty ? "" : " \(sizes)")"
      }
    }

    /// The name and the type of a value.
    public struct NamedValueType: Hashable, Sendable {
      /// The value's name.
      public let name: String
      /// The value's type.
      public let type: ValueType
    }

    /// A block: operations in order.
    public struct Block: Hashable, Sendable {
      /// The block's inputs. A function's block has the inputs of the function.
      public let inputs: [NamedValueType]
      /// The names of the block's outputs.
      public let outputNames: [String]
      /// The operations, in the file's order.
      public let operations: [Operation]
    }

    /// An argument of an operation.
    public struct Argument: Hashable, Sendable {
      /// The argument's name, such as `x` or `weight`.
      public let name: String
      /// The names of the argument's values; a list has several. Nil for a value that is stored in the operation
      /// itself.
      public let values: [String?]
    }

    /// An operation of a program.
    public struct Operation: Hashable, Sendable {
      /// The operation's own name.
      public let name: String
      /// The operator's name with its opset, such as `ios16.conv`; `const` for a constant.
      public let operatorName: String
      /// The names of the values that the operation reads, including constants, ordered by argument name.
      public let inputs: [String]
      /// The operation's arguments, ordered by name.
      public let arguments: [Argument]
      /// The values that the operation produces.
      public let outputs: [NamedValueType]
      /// The nested blocks: branches of a condition, the body of a loop.
      public let blocks: [Block]
    }
  }

  /// A network: layers in order.
  public struct NeuralNetwork: Sendable {
    /// The layers, in the file's order.
    public let layers: [Layer]

    /// A layer of a network.
    public struct Layer: Hashable, Sendable {
      /// The layer's own name, or the name of its first output if it has none.
      public let name: String
      /// The layer's type by the format's name, such as `convolution` or `Conv`.
      public let type: String
      /// The names of the values that the layer reads.
      public let inputNames: [String]
      /// The names of the values that the layer produces.
      public let outputNames: [String]
    }
  }

  /// A pipeline: models in order, where later models read the outputs of earlier ones.
  public struct Pipeline: Sendable {
    /// The models' names.
    public let subModelNames: [String]
    /// The structures of the models.
    public let subModels: [ModelStructure]
  }

  init(_ structure: SourceStructure) {
    switch structure {
    case .program(let functions):
      self = .program(
        Program(
          functions: functions.mapValues {
            Program.Function(inputs: named($0.inputs, $0.inputTypes), block: Program.Block($0))
          }))
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
    inputs = named(block.inputs, block.inputTypes)
    outputNames = block.outputs
    operations = block.operations.map { operation in
      ModelStructure.Program.Operation(
        name: operation.name, operatorName: operation.kind, inputs: operation.inputs,
        arguments: operation.arguments.map { ModelStructure.Program.Argument(name: $0.name, values: $0.values) },
        outputs: named(operation.outputs, operation.outputTypes), blocks: operation.blocks.map(Self.init))
    }
  }
}

private func named(_ names: [String], _ types: [SourceType]) -> [ModelStructure.Program.NamedValueType] {
  zip(names, types).map { .init(name: $0, type: .init(source: $1)) }
}
