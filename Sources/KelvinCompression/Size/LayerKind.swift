import KelvinImport

/// The fields of a layer's parameters that hold weights.
struct LayerKind: Sendable {
  /// A field with a `WeightParams` message, or with a message of such fields.
  struct Weight: Sendable {
    let name: String
    let number: Int
    var parts: [Weight] = []
  }

  let weights: [Weight]
  /// The fields with networks of their own: the sides of a branch, the body of a loop.
  var networks: [Int] = []
  /// The fields whose numbers are the sizes of the weights, outermost first.
  var sizes: [Int] = []

  /// Returns the shape of the layer's weights; empty if it is not known.
  func shape(_ parameters: WireMessage) throws(FormatError) -> [Int] {
    var shape: [Int] = []
    for number in sizes {
      try parameters.each(number) { (field) throws(FormatError) in try field.append(to: &shape, limit: 8) }
    }
    return shape
  }

  private static func plain(_ names: KeyValuePairs<String, Int>) -> [Weight] {
    names.map { Weight(name: $0.key, number: $0.value) }
  }

  private static let lstm = plain([
    "inputGateWeights": 1, "forgetGateWeights": 2, "blockInputWeights": 3, "outputGateWeights": 4,
    "inputGateRecursion": 20, "forgetGateRecursion": 21, "blockInputRecursion": 22, "outputGateRecursion": 23,
    "inputGateBias": 40, "forgetGateBias": 41, "blockInputBias": 42, "outputGateBias": 43, "inputGatePeephole": 60,
    "forgetGatePeephole": 61, "outputGatePeephole": 62,
  ])

  /// The layers with weights, by their fields in `NeuralNetworkLayer`.
  static let all: [Int: LayerKind] = [
    // convolution: output channels, channels of the kernel, sizes of the kernel
    100: LayerKind(weights: plain(["weights": 90, "bias": 91]), sizes: [1, 2, 20]),
    // activation: the kinds with weights
    130: LayerKind(weights: [
      Weight(name: "pReLU", number: 25, parts: plain(["alpha": 1])),
      Weight(name: "parametricSoftplus", number: 71, parts: plain(["alpha": 1, "beta": 2])),
    ]),
    // innerProduct: output channels, input channels
    140: LayerKind(weights: plain(["weights": 20, "bias": 21]), sizes: [2, 1]),
    // embedding: input dimension, output channels
    150: LayerKind(weights: plain(["weights": 20, "bias": 21]), sizes: [1, 2]),
    // batchnorm
    160: LayerKind(weights: plain(["gamma": 15, "beta": 16, "mean": 17, "variance": 18])),
    // scale, bias, loadConstant
    245: LayerKind(weights: plain(["scale": 2, "bias": 5])), 250: LayerKind(weights: plain(["bias": 2])),
    290: LayerKind(weights: plain(["weights": 2]), sizes: [1]),
    // simpleRecurrent
    400: LayerKind(weights: plain(["weights": 30, "recursion": 31, "bias": 32])),
    // gru
    410: LayerKind(
      weights: plain([
        "updateGateWeights": 30, "resetGateWeights": 31, "outputGateWeights": 32, "updateGateRecursion": 50,
        "resetGateRecursion": 51, "outputGateRecursion": 52, "updateGateBias": 70, "resetGateBias": 71,
        "outputGateBias": 72,
      ])),
    // uniDirectionalLSTM, biDirectionalLSTM
    420: LayerKind(weights: [Weight(name: "lstm", number: 20, parts: lstm)]),
    430: LayerKind(weights: [Weight(name: "lstm", number: 20, parts: lstm)]),
    // custom
    500: LayerKind(weights: plain(["weights": 20])),
    // branch, loop
    605: LayerKind(weights: [], networks: [1, 2]), 615: LayerKind(weights: [], networks: [3, 4]),
    // embeddingND: vocabulary, embedding
    1040: LayerKind(weights: plain(["weights": 20, "bias": 21]), sizes: [1, 2]),
    // batchedMatmul
    1045: LayerKind(weights: plain(["weights": 8, "bias": 9]), sizes: [5, 6]),
    // loadConstantND
    1070: LayerKind(weights: plain(["weights": 2]), sizes: [1]),
    // layerNormalization
    1350: LayerKind(weights: plain(["gamma": 3, "beta": 4])),
    // convolution3d: output channels, sizes of the kernel
    1471: LayerKind(weights: plain(["weights": 60, "bias": 61])),
  ]
}
