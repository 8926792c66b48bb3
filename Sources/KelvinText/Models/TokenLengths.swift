public import FoundationEssentials
public import Kelvin

extension ModelConfiguration {
  /// Returns the configuration with a default length for token inputs of any length for which the file has no default.
  /// Predictions may still use any other length.
  ///
  /// - Parameter file: the model.
  /// - Throws: `ModelError` with code `parameters` for a function that the model does not have.
  package func withTokenLengths(of file: ReadModel) throws(ModelError) -> ModelConfiguration {
    var result = self
    for (name, feature) in try file.modelDescription(of: functionName).inputDescriptionsByName
    where inputShapes[name] == nil {
      guard let array = feature.multiArrayConstraint, array.shapeConstraint.type == .range,
        var last = array.shape.last, let range = array.shapeConstraint.sizeRangeForDimension.last
      else { continue }
      // Without a default, the constraint's shape has the smallest length.
      if last <= max(range.lowerBound, 1) { last = min(max(128, range.lowerBound), range.upperBound) }
      result.inputShapes[name] = array.shape.dropLast() + [last]
    }
    return result
  }
}

extension Model {
  /// Loads a model that reads tokens, like `init(contentsOf:configuration:progress:)`, with a default length for inputs
  /// whose file has none. Blocks the calling thread.
  ///
  /// - Parameters:
  ///   - url: the model file or package.
  ///   - configuration: how the model is loaded and run.
  /// - Throws: `ModelError` as `init(contentsOf:configuration:progress:)` does.
  public convenience init(
    readingTokensFrom url: URL, configuration: ModelConfiguration = ModelConfiguration()
  ) throws(ModelError) {
    let file = try ReadModel(
      contentsOf: url, allowsLinks: configuration.allowsLinks, isolation: configuration.isolation)
    try self.init(file, configuration: configuration.withTokenLengths(of: file))
  }
}
