import Kelvin

/// The JSON document of a model file's structure.
struct StructureDocument: Encodable {
  struct Program: Encodable {
    var functions: [String: Function]
  }

  struct Function: Encodable {
    var inputs: [String]
    var block: Block
  }

  struct Block: Encodable {
    var inputs: [String]
    var outputNames: [String]
    var operations: [Operation]

    init(_ block: ModelStructure.Program.Block) {
      inputs = block.inputs
      outputNames = block.outputNames
      operations = block.operations.map { operation in
        Operation(
          name: operation.name, operatorName: operation.operatorName, inputs: operation.inputs,
          arguments: operation.arguments.map { Argument(name: $0.name, values: $0.values) },
          outputs: operation.outputs, blocks: operation.blocks.map(Block.init))
      }
    }
  }

  struct Operation: Encodable {
    var name: String
    var operatorName: String
    var inputs: [String]
    var arguments: [Argument]
    var outputs: [String]
    var blocks: [Block]
  }

  struct Argument: Encodable {
    var name: String
    var values: [String?]
  }

  struct Network: Encodable {
    var layers: [Layer]
  }

  struct Layer: Encodable {
    var name: String
    var type: String
    var inputNames: [String]
    var outputNames: [String]
  }

  struct Pipeline: Encodable {
    var subModelNames: [String]
    var subModels: [StructureDocument]
  }

  var program: Program?
  var neuralNetwork: Network?
  var pipeline: Pipeline?
  var unsupported: String?

  init(_ structure: ModelStructure) {
    switch structure {
    case .program(let program):
      self.program = Program(
        functions: program.functions.mapValues { Function(inputs: $0.inputs, block: Block($0.block)) })
    case .neuralNetwork(let network):
      neuralNetwork = Network(
        layers: network.layers.map {
          Layer(name: $0.name, type: $0.type, inputNames: $0.inputNames, outputNames: $0.outputNames)
        })
    case .pipeline(let pipeline):
      self.pipeline = Pipeline(
        subModelNames: pipeline.subModelNames, subModels: pipeline.subModels.map(StructureDocument.init))
    case .unsupported(let reason): unsupported = reason
    }
  }
}
