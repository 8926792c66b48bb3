import KelvinFeatures
import KelvinGraph
import KelvinImages
import KelvinRuntime

/// The caller's memory for the outputs of a graph, checked against a specialization of it.
struct OutputBackings: Sendable {
  private let backings: [String: OutputBacking]
  /// The memory that a session may write directly, by output index in the graph.
  let buffers: [Int: CallerBuffer]

  /// - Parameter places: the destinations of the graph's outputs.
  /// - Throws: `featureType` for a backing that does not fit its output, or is given for two outputs.
  init(_ given: [String: OutputBacking], _ places: [FunctionExecutor.Place], _ graph: Graph) throws(ModelError) {
    var backings: [String: OutputBacking] = [:]
    var buffers: [Int: CallerBuffer] = [:]
    var owners: [ObjectIdentifier: String] = [:]
    for (name, backing) in given.sorted(by: { $0.key < $1.key }) {
      guard let place = places.first(where: { $0.feature?.isNamed(name) == true }), let feature = place.feature else {
        continue
      }
      let index = place.index
      let type = graph[graph.outputs[index]].type
      guard !graph.extents.contains(where: { $0.output == index }) else {
        throw ModelError(.featureType, "output '\(name)' has a size that depends on data; read it without a backing")
      }
      try Self.check(backing, feature, type)
      if let other = owners.updateValue(name, forKey: backing.identity) {
        throw ModelError(.featureType, "outputs '\(other)' and '\(name)' share one backing; give each its own")
      }
      backings[feature.name] = backing
      if case .multiArray(let array) = backing, array.isDense, array.dataType.scalar == type.scalar {
        buffers[index] = CallerBuffer(array.memory, owner: array)
      }
    }
    self.backings = backings
    self.buffers = buffers
  }

  private static func check(_ backing: OutputBacking, _ feature: Feature, _ type: TensorType) throws(ModelError) {
    let (expected, got): (String, String)
    switch (backing, feature.type) {
    case (.multiArray(let array), .tensor(let scalar, _)):
      guard array.dataType.scalar != scalar || Shape(array.shape) != type.shape else { return }
      (expected, got) = (
        "an array \(TensorType(scalar, type.shape))", "\(TensorType(array.dataType.scalar, Shape(array.shape)))"
      )
    case (.pixelBuffer(let buffer), .image(let image)):
      let size = type.shape.dimensions.suffix(2)
      guard image.layout != .grayscaleFloat16 else {
        throw ModelError(
          .featureType,
          "output '\(feature.name)': an image of float16, which cannot have a backing; take it from the result")
      }
      let isGray = buffer.format == .gray8
      guard image.layout.isImage(type.shape) else {
        throw ModelError(
          .featureType,
          "output '\(feature.name)': expected an image [1, \(image.layout.channelCount), height, width], "
            + "the model computes \(type.shape), which no image backs")
      }
      guard [buffer.height, buffer.width] != Array(size) || isGray != image.layout.isGray else { return }
      (expected, got) = (
        "a \(image.layout.isGray ? "grey" : "colour") image of \(size.last ?? 0)x\(size.first ?? 0) pixels",
        "\(buffer.width)x\(buffer.height) \(buffer.format)"
      )
    case (.multiArray, _): (expected, got) = (FeatureDescription(feature).type.rawValue, "an array")
    case (.pixelBuffer, _): (expected, got) = ("an array \(type)", "an image")
    }
    throw ModelError(.featureType, "output '\(feature.name)': expected as backing \(expected), got \(got)")
  }

  /// Returns the value of an output after a run, in its backing; nil if the output has none.
  func read(_ place: FunctionExecutor.Place, _ session: Session) -> FeatureValue? {
    guard let feature = place.feature, let backing = backings[feature.name] else { return nil }
    let index = place.index
    let graph = session.model.graph
    let type = graph[graph.outputs[index]].type
    switch backing {
    case .multiArray(let array):
      guard !session.callerOwnedOutputs.contains(index) else { return FeatureValue(multiArray: array) }
      session.withOutput(index) { bytes in
        if array.dataType.scalar == type.scalar {
          array.assign(bytes)
        } else {
          let converted = Tensor(type, Bytes(copying: bytes)).converted(to: array.dataType.scalar)
          converted.bytes.withUnsafeBytes { array.assign($0) }
        }
      }
      return FeatureValue(multiArray: array)
    case .pixelBuffer(let buffer):
      guard case .image(let image) = feature.type else { return nil }
      let planar = session.withOutput(index) { Tensor(type, Bytes(copying: $0)).floats }
      buffer.write(planar, order: image.layout.channelOrder)
      return FeatureValue(.backing(buffer))
    }
  }
}

extension OutputBacking {
  fileprivate var identity: ObjectIdentifier {
    switch self {
    case .multiArray(let array): ObjectIdentifier(array)
    case .pixelBuffer(let buffer): ObjectIdentifier(buffer)
    }
  }
}
