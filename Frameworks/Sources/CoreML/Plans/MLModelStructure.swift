public import Foundation
public import Kelvin

/// The structure of a model file.
public enum MLModelStructure: Sendable {
  /// A list of layers: a neural network of Core ML, or an ONNX graph.
  case neuralNetwork(NeuralNetwork)
  /// An ML Program.
  case program(Program)
  /// Models that run in order.
  case pipeline(Pipeline)
  /// A model of another kind.
  case unsupported

  /// Creates a structure from one of Kelvin's.
  public init(_ structure: ModelStructure) {
    self =
      switch structure {
      case .program(let program): .program(Program(program))
      case .neuralNetwork(let network): .neuralNetwork(NeuralNetwork(network))
      case .pipeline(let pipeline): .pipeline(Pipeline(pipeline))
      case .unsupported: .unsupported
      }
  }

  /// Reads the structure of a model file.
  ///
  /// - Throws: `MLModelError` (`io`) if the file cannot be read or is not a model.
  public static func load(contentsOf url: URL) async throws -> MLModelStructure {
    do throws(ModelError) { return MLModelStructure(try await ModelStructure.load(contentsOf: url)) } catch {
      throw MLModelError(error)
    }
  }

  /// Reads the structure of an asset's model.
  ///
  /// - Throws: `MLModelError` (`io`) if the file cannot be read or is not a model.
  public static func load(asset: MLModelAsset) async throws -> MLModelStructure {
    do throws(ModelError) { return MLModelStructure(try await ModelStructure.load(asset: asset.kelvin)) } catch {
      throw MLModelError(error)
    }
  }

  /// Layers in order.
  public struct NeuralNetwork: Sendable {
    /// Kelvin's network.
    public let kelvin: ModelStructure.NeuralNetwork

    init(_ network: ModelStructure.NeuralNetwork) { kelvin = network }

    /// The layers, in the file's order.
    public var layers: [Layer] { kelvin.layers.map { Layer($0) } }

    /// A layer.
    public struct Layer: Hashable, Sendable {
      /// Kelvin's layer.
      public let kelvin: ModelStructure.NeuralNetwork.Layer

      init(_ layer: ModelStructure.NeuralNetwork.Layer) { kelvin = layer }

      /// The layer's name.
      public var name: String { kelvin.name }
      /// The layer's type, by the format's name.
      public var type: String { kelvin.type }
      /// The names of the values that the layer reads.
      public var inputNames: [String] { kelvin.inputNames }
      /// The names of the values that the layer produces.
      public var outputNames: [String] { kelvin.outputNames }
    }
  }

  /// Models in order.
  public struct Pipeline: Sendable {
    /// Kelvin's pipeline.
    public let kelvin: ModelStructure.Pipeline

    init(_ pipeline: ModelStructure.Pipeline) { kelvin = pipeline }

    /// The models' names.
    public var subModelNames: [String] { kelvin.subModelNames }
    /// The structures of the models.
    public var subModels: [MLModelStructure] { kelvin.subModels.map { MLModelStructure($0) } }
  }

  /// Functions that consist of blocks of operations.
  public struct Program: Sendable {
    /// Kelvin's program.
    public let kelvin: ModelStructure.Program

    init(_ program: ModelStructure.Program) { kelvin = program }

    /// The functions, by name.
    public var functions: [String: Function] { kelvin.functions.mapValues { Function($0) } }
  }
}

extension MLModelStructure.Program {
  /// A function.
  public struct Function: Sendable {
    /// Kelvin's function.
    public let kelvin: ModelStructure.Program.Function

    init(_ function: ModelStructure.Program.Function) { kelvin = function }

    /// The function's inputs.
    public var inputs: [NamedValueType] { kelvin.inputs.map { NamedValueType($0) } }
    /// The function's body.
    public var block: Block { Block(kelvin.block) }
  }

  /// Operations in order.
  public struct Block: Hashable, Sendable {
    /// Kelvin's block.
    public let kelvin: ModelStructure.Program.Block

    init(_ block: ModelStructure.Program.Block) { kelvin = block }

    /// The block's inputs.
    public var inputs: [NamedValueType] { kelvin.inputs.map { NamedValueType($0) } }
    /// The names of the block's outputs.
    public var outputNames: [String] { kelvin.outputNames }
    /// The operations, in the file's order.
    public var operations: [Operation] { kelvin.operations.map { Operation($0) } }
  }

  /// An operation.
  public struct Operation: Hashable, Sendable {
    /// Kelvin's operation.
    public let kelvin: ModelStructure.Program.Operation

    init(_ operation: ModelStructure.Program.Operation) { kelvin = operation }

    /// The operator's name with its opset, such as `ios16.conv`.
    public var operatorName: String { kelvin.operatorName }
    /// The arguments, by name.
    public var inputs: [String: Argument] {
      Dictionary(kelvin.arguments.map { ($0.name, Argument($0)) }) { first, _ in first }
    }
    /// The values that the operation produces.
    public var outputs: [NamedValueType] { kelvin.outputs.map { NamedValueType($0) } }
    /// The nested blocks.
    public var blocks: [Block] { kelvin.blocks.map { Block($0) } }
  }

  /// An argument of an operation.
  public struct Argument: Hashable, Sendable {
    /// Kelvin's argument.
    public let kelvin: ModelStructure.Program.Argument

    init(_ argument: ModelStructure.Program.Argument) { kelvin = argument }

    /// The argument's values; a list has several.
    public var bindings: [Binding] { kelvin.values.map { $0.map(Binding.name) ?? .value(Value()) } }
  }

  /// A value of an argument.
  public enum Binding: Hashable, Sendable {
    /// A value that another operation, or the function, names.
    case name(String)
    /// A value that is stored in the operation.
    case value(Value)
  }

  /// A stored value, whose contents are not public.
  public struct Value: Hashable, Sendable {}

  /// The type of a value.
  public struct ValueType: Hashable, Sendable {
    /// Kelvin's type, with the type of the elements and the shape.
    public let kelvin: ModelStructure.Program.ValueType
  }

  /// A value's name and type.
  public struct NamedValueType: Hashable, Sendable {
    /// The value's name.
    public let name: String
    /// The value's type.
    public let type: ValueType

    init(_ value: ModelStructure.Program.NamedValueType) {
      (name, type) = (value.name, ValueType(kelvin: value.type))
    }
  }
}
