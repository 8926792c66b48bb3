import KelvinFeatures
import KelvinGraph
import KelvinImages

extension FeatureBinding {
  func write(
    _ input: FeatureValue.ImageInput, _ feature: Feature, _ image: ImageFeature,
    to memory: UnsafeMutableRawBufferPointer
  ) throws(ModelError) {
    if input.cropAndScale == nil, input.pixels.width != image.width || input.pixels.height != image.height {
      throw mismatch(
        feature,
        "expected an image of \(image.width)x\(image.height) pixels, got \(input.pixels.width)x\(input.pixels.height);"
          + " give FeatureValue(image:cropAndScale:) to scale it")
    }
    let sampler: ImageSampler
    do throws(ImageError) {
      sampler = ImageSampler(
        width: image.width, height: image.height, order: image.layout.channelOrder,
        arrangement: image.isInterleaved ? .interleaved : .planar, cropAndScale: input.cropAndScale ?? .scaleToFill,
        regionOfInterest: input.regionOfInterest)
      // Pixels of floating-point images are in 0…1 instead of 0…255.
      let unit: Float = image.layout == .grayscaleFloat16 ? 1 / 255 : 1
      let scale = image.scale.map { $0 * unit }
      try input.pixels.withPixels(for: sampler, input.orientation) { (view) throws(ImageError) in
        let numbers = image.layout == .grayscaleFloat16 ? view.grayNumbers : nil
        func sample(into tensor: UnsafeMutableBufferPointer<Float>) throws(ImageError) {
          if let numbers {
            try sampler.sample(
              numbers: numbers, of: view, orientation: input.orientation, scale: image.scale[0], bias: image.bias[0],
              into: tensor)
          } else {
            try sampler.sample(view, orientation: input.orientation, scale: scale, bias: image.bias, into: tensor)
          }
        }
        if image.scalar == .float32 {
          try sample(into: memory.bindMemory(to: Float.self))
        } else {
          let staging = UnsafeMutableBufferPointer<Float>.allocate(capacity: sampler.elementCount)
          defer { staging.deallocate() }
          try sample(into: staging)
          Tensor.store(staging.map(Double.init), as: image.scalar, in: memory)
        }
      }
    } catch { throw ModelError(.featureType, "input '\(feature.name)': \(error)") }
  }
}

extension FeatureValue.ImageInput {
  /// Returns the size that a model's image input uses: the accepted size nearest to the image, or to its region of
  /// interest, after rotation.
  func size(for image: ImageFeature) -> ImageFeature.Size {
    // A region refers to the upright image, an image's own size to the stored one.
    let upright = orientation.swapsAxes ? (pixels.height, pixels.width) : (pixels.width, pixels.height)
    let (width, height) = regionOfInterest.map { ($0.width, $0.height) } ?? upright
    let isTurned = cropAndScale?.rotates ?? false
    return image.nearestSize(
      to: ImageFeature.Size(width: isTurned ? height : width, height: isTurned ? width : height))
  }
}
