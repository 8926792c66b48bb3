package import KelvinFeatures
import KelvinGraph
import KelvinImages
package import KelvinRuntime

extension FeatureBinding {
  /// The output features that a tensor of the graph holds, each with its position in `Graph.outputs`.
  var tensorOutputs: [(index: Int, feature: Feature)] {
    let made = [
      function.classifier?.labelOutput, function.classifier?.probabilitiesOutput, function.detector?.confidenceOutput,
      function.detector?.coordinatesOutput,
    ]
    let plain = function.outputs.filter { !made.contains($0.name) }
    return plain.enumerated().map { (index: $0.offset, feature: $0.element) }
  }

  /// The outputs of a session's latest run.
  ///
  /// - Parameter backings: outputs' memory of the caller's; those that were written in place are not copied.
  /// - Throws: `featureType` for an image output whose tensor is not a picture of its kind.
  package func read(
    _ session: Session, backings: OutputBackings = OutputBackings()
  ) throws(ModelError) -> DictionaryFeatureProvider {
    let graph = session.model.graph
    func tensor(_ index: Int) -> Tensor {
      Tensor(graph[graph.outputs[index]].type, session.withOutput(index) { Bytes(copying: $0) })
    }
    var values: [String: FeatureValue] = [:]
    let classifier = function.classifier
    for (index, feature) in tensorOutputs where index < graph.outputs.count {
      if let written = backings.read(feature, index, session) {
        values[feature.name] = written
      } else {
        values[feature.name] = try value(tensor(index), feature)
      }
    }
    if let classifier, classifier.graphOutput < graph.outputs.count {
      let probabilities = tensor(classifier.graphOutput).doubles
      let labels = classifier.labels.labels
      var dictionary: [ClassLabel: Double] = [:]
      var best: (label: ClassLabel, probability: Double)?
      for (label, probability) in zip(labels, probabilities) {
        // Where two classes share a label, the larger probability stands. What is not a number is less than any.
        let known = dictionary[label] ?? .nan
        dictionary[label] = known.isNaN || probability > known ? probability : known
        if best.map({ $0.probability.isNaN || probability > $0.probability }) ?? true { best = (label, probability) }
      }
      switch best?.label {
      case .string(let label): values[classifier.labelOutput] = FeatureValue(string: label)
      case .int64(let label): values[classifier.labelOutput] = FeatureValue(int64: label)
      case nil: break
      }
      if let name = classifier.probabilitiesOutput { values[name] = FeatureValue(dictionary: dictionary) }
    }
    if let detector = function.detector { read(detector, tensor, &values) }
    return DictionaryFeatureProvider(dictionary: values)
  }

  private func value(_ tensor: Tensor, _ feature: Feature) throws(ModelError) -> FeatureValue? {
    switch feature.type {
    case .image(let image):
      guard image.layout.isPicture(tensor.shape) else {
        throw ModelError(
          .featureType,
          "output '\(feature.name)': expected a picture [1, \(image.layout.channelCount), height, width], "
            + "the model computes \(tensor.shape)")
      }
      let sizes = tensor.shape.dimensions.suffix(2)
      let pixels = tensor.floats.withUnsafeBufferPointer { planar in
        try? PixelBuffer(
          planar: planar, width: sizes.last ?? image.width, height: sizes.first ?? image.height,
          order: ChannelOrder(rawValue: image.layout.rawValue) ?? .rgb)
      }
      guard let pixels else {
        throw ModelError(.featureType, "output '\(feature.name)': \(tensor.shape) is too large for a picture, or empty")
      }
      return FeatureValue(pixelBuffer: pixels)
    case .int64: return tensor.integers.first.map { FeatureValue(int64: Int64($0)) }
    case .double: return tensor.doubles.first.map { FeatureValue(double: $0) }
    case .tensor(let scalar, _): return FeatureValue(multiArray: MultiArray(tensor.converted(to: scalar)))
    default: return FeatureValue(multiArray: MultiArray(tensor))
    }
  }
}
