import KelvinFeatures
import KelvinGraph
import KelvinImages

extension FeatureBinding {
  /// Converts a tensor to the output feature.
  ///
  /// - Throws: `featureType` for an image output whose tensor is not an image of its kind.
  func value(_ tensor: Tensor, _ feature: Feature) throws(ModelError) -> FeatureValue? {
    switch feature.type {
    case .image(let image):
      guard image.layout.isImage(tensor.shape) else {
        throw ModelError(
          .featureType,
          "output '\(feature.name)': expected an image [1, \(image.layout.channelCount), height, width], "
            + "the model computes \(tensor.shape)")
      }
      let sizes = tensor.shape.dimensions.suffix(2)
      let (width, height) = (sizes.last ?? image.width, sizes.first ?? image.height)
      let pixels =
        image.layout == .grayscaleFloat16
        ? try? PixelBuffer(
          width: width, height: height, format: .gray16Half,
          bytes: tensor.converted(to: .float16).bytes.withUnsafeBytes { [UInt8]($0) })
        : tensor.floats.withUnsafeBufferPointer { planar in
          try? PixelBuffer(planar: planar, width: width, height: height, order: image.layout.channelOrder)
        }
      guard let pixels else {
        throw ModelError(.featureType, "output '\(feature.name)': \(tensor.shape) is too large for an image, or empty")
      }
      return FeatureValue(pixelBuffer: pixels)
    case .int64: return tensor.integers.first.map { FeatureValue(int64: Int64($0)) }
    case .double: return tensor.doubles.first.map { FeatureValue(double: $0) }
    case .tensor where feature.hasComputedType: return FeatureValue(multiArray: MultiArray(tensor))
    case .tensor(let scalar, _): return FeatureValue(multiArray: MultiArray(tensor.converted(to: scalar)))
    default: return FeatureValue(multiArray: MultiArray(tensor))
    }
  }
}
