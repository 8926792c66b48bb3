import KelvinFeatures
import KelvinGraph
import KelvinImages

extension FeatureBinding {
  /// The arrays of a detector: as many rows as boxes were kept.
  func read(_ detector: Detector, _ tensor: (Int) -> Tensor, _ values: inout [String: FeatureValue]) {
    let kept = tensor(detector.countGraphOutput).integers.first ?? 0
    for (output, source) in [
      (detector.confidenceOutput, detector.scoresGraphOutput), (detector.coordinatesOutput, detector.boxesGraphOutput),
    ] {
      guard let feature = function.outputs.first(where: { $0.name == output }) else { continue }
      let padded = tensor(source)
      let columns = padded.shape.dimensions.last ?? 0
      let rows = detector.rowCount(kept: max(kept, 0))
      var elements = Array(padded.doubles.prefix(rows * columns))
      elements += [Double](repeating: 0, count: rows * columns - elements.count)
      var scalar = ScalarType.float64
      if case .tensor(let declared, _) = feature.type { scalar = declared }
      values[output] = FeatureValue(
        multiArray: MultiArray(Tensor(TensorType(scalar, [rows, columns]), rounding: elements)))
    }
  }
}

extension FeatureValue.ImageInput {
  /// The size at which a model's image input takes the picture: the nearest to that of the picture, or of the part of
  /// it that is wanted, as it is drawn.
  func size(for image: ImageFeature) -> ImageFeature.Size {
    // A region is given in the upright picture, a picture's own size as it is stored.
    let upright = orientation.swapsAxes ? (pixels.height, pixels.width) : (pixels.width, pixels.height)
    let (width, height) = regionOfInterest.map { ($0.width, $0.height) } ?? upright
    let isTurned = cropAndScale?.rotates ?? false
    return image.nearestSize(
      to: ImageFeature.Size(width: isTurned ? height : width, height: isTurned ? width : height))
  }
}
