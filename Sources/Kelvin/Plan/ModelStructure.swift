public import FoundationEssentials
import KelvinFormats
import KelvinGraph

/// What a model file consists of, by its own names.
public enum ModelStructure: Sendable {
  /// A Core ML ML Program.
  case program(Program)
  /// A flat list of layers: Core ML's NeuralNetwork, or an ONNX graph.
  case neuralNetwork(NeuralNetwork)
  case pipeline(Pipeline)

  /// - Throws: `ModelError` where the file cannot be read.
  public static func load(contentsOf url: URL) async throws(ModelError) -> ModelStructure {
    try await BlockingWork.run { (_) throws(ModelError) -> ModelStructure in
      try ModelError.wrapping { ModelStructure(try readModel(at: url.path).structure) }
    }
  }

  public struct Program: Sendable {
    public let functions: [String: Function]

    public struct Function: Sendable {
      public let inputs: [String]
      public let block: Block
    }

    public struct Block: Sendable {
      public let outputNames: [String]
      public let operations: [Operation]
    }

    public struct Operation: Hashable, Sendable {
      /// The operation's own name.
      public let name: String
      /// What it does, with its operator set: `ios16.conv`.
      public let operatorName: String
      public let inputs: [String]
      public let outputs: [String]
    }
  }

  public struct NeuralNetwork: Sendable {
    public let layers: [Layer]

    public struct Layer: Hashable, Sendable {
      public let name: String
      public let type: String
      public let inputNames: [String]
      public let outputNames: [String]
    }
  }

  public struct Pipeline: Sendable {
    public let subModelNames: [String]
    public let subModels: [ModelStructure]
  }

  init(_ structure: SourceStructure) {
    switch structure {
    case .program(let functions):
      self = .program(
        Program(
          functions: functions.mapValues { block in
            Program.Function(
              inputs: block.inputs,
              block: Program.Block(
                outputNames: block.outputs,
                operations: block.operations.map {
                  Program.Operation(name: $0.name, operatorName: $0.kind, inputs: $0.inputs, outputs: $0.outputs)
                }))
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
