import Kelvin
import KelvinBasics

extension ModelStructure {
  /// The JSON document of a model file's structure.
  var document: JSONObject {
    switch self {
    case .program(let program):
      [
        "program": [
          "functions": program.functions.mapValues { function -> JSONObject in
            ["inputs": function.inputs.map(\.name), "block": function.block.document]
          }
        ] as JSONObject
      ]
    case .neuralNetwork(let network):
      [
        "neuralNetwork": [
          "layers": network.layers.map { layer -> JSONObject in
            [
              "name": layer.name, "type": layer.type, "inputNames": layer.inputNames, "outputNames": layer.outputNames,
            ]
          }
        ] as JSONObject
      ]
    case .pipeline(let pipeline):
      [
        "pipeline": [
          "subModelNames": pipeline.subModelNames, "subModels": pipeline.subModels.map(\.document),
        ] as JSONObject
      ]
    case .unsupported(let reason): ["unsupported": reason]
    }
  }
}

extension ModelStructure.Program.Block {
  fileprivate var document: JSONObject {
    [
      "inputs": inputs.map(\.name), "outputNames": outputNames,
      "operations": operations.map { operation -> JSONObject in
        [
          "name": operation.name, "operatorName": operation.operatorName, "inputs": operation.inputs,
          "arguments": operation.arguments.map { ["name": $0.name, "values": $0.values] as JSONObject },
          "outputs": operation.outputs.map(\.name), "blocks": operation.blocks.map(\.document),
        ]
      },
    ]
  }
}
