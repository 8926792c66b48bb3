extension PixelBuffer {
  /// Creates an image from a planar tensor (channel, row, column), such as a model's image output.
  ///
  /// Values are rounded to the nearest integer and clamped to 0...255; NaN becomes 0.
  ///
  /// - Parameters:
  ///   - tensor: `width * height * order.count` elements.
  ///   - order: The tensor's channels. ``ChannelOrder/grayscale`` gives ``PixelFormat/gray8``, the others give
  ///     ``PixelFormat/rgb8``.
  /// - Throws: ``ImageError`` (`invalidArgument`) where a side is not positive or the count differs.
  package init(
    planar tensor: UnsafeBufferPointer<Float>, width: Int, height: Int, order: ChannelOrder
  ) throws(ImageError) {
    let format: PixelFormat = order == .grayscale ? .gray8 : .rgb8
    guard let count = Self.byteCount(width, height, format), count == tensor.count else {
      throw ImageError(
        .invalidArgument, "tensor", "\(tensor.count) elements are not \(order.count) x \(height) x \(width)")
    }
    let pixels = width * height
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
      for channel in 0..<order.count {
        let place = order == .bgr ? 2 - channel : channel
        for pixel in 0..<pixels {
          let value = tensor[channel * pixels + pixel]
          let clamped = value > 0 ? min(value, 255) : 0
          bytes[pixel * order.count + place] = UInt8((clamped + 0.5).rounded(.down))
        }
      }
      initialized = count
    }
    self.init(trusted: bytes, width: width, height: height, format: format)
  }

  /// Returns the image rotated upright, then cropped and scaled by `cropAndScale`, as ``PixelFormat/rgb8``. A grey
  /// image stays ``PixelFormat/gray8``.
  ///
  /// - Parameters:
  ///   - width: The width of the result in pixels.
  ///   - height: The height of the result in pixels.
  ///   - cropAndScale: How the upright image fits the size; stretched unless given.
  ///   - orientation: The orientation that the image is stored in.
  /// - Throws: ``ImageError`` (`tooLarge`) where a side is not positive or the result would be too large.
  public func resized(
    width: Int, height: Int, _ cropAndScale: ImageCropAndScale = .scaleToFill, orientation: ImageOrientation = .up
  ) throws(ImageError) -> PixelBuffer {
    let target: PixelFormat = format.isGray ? .gray8 : .rgb8
    guard let count = Self.byteCount(width, height, target), count <= ImageCodec.maximumPixels * 4 else {
      throw ImageError(.tooLarge, "pixels", "\(width) x \(height) is not a size to scale an image to")
    }
    let sampler = ImageSampler(
      width: width, height: height, order: target == .gray8 ? .grayscale : .rgb, arrangement: .interleaved,
      cropAndScale: cropAndScale)
    var bytes = [UInt8](repeating: 0, count: count)
    let failure: ImageError? = bytes.withUnsafeMutableBufferPointer { bytes in
      withPixels { view in
        do throws(ImageError) {
          try sampler.sample(view, orientation: orientation, into: bytes)
          return nil
        } catch {
          return error
        }
      }
    }
    if let failure { throw failure }
    return PixelBuffer(trusted: bytes, width: width, height: height, format: target)
  }

  /// Returns the upright image, rotated and mirrored by `orientation`. An image that is upright keeps its format; the
  /// others are ``PixelFormat/rgb8``, or ``PixelFormat/gray8`` if they are grey.
  ///
  /// - Throws: ``ImageError`` (`tooLarge`) where the result would be too large.
  public func oriented(_ orientation: ImageOrientation) throws(ImageError) -> PixelBuffer {
    if orientation == .up { return self }
    let (wide, high) = orientation.swapsAxes ? (height, width) : (width, height)
    return try resized(width: wide, height: high, orientation: orientation)
  }

  /// Fills a planar tensor [channels, height, width] with the cropped and scaled image: `scale[c] * sample + bias[c]`
  /// for 8-bit samples of channel c. Parts that the image does not cover hold the bias.
  ///
  /// - Parameters:
  ///   - tensor: `height * width` elements for a grey image, three times as many for the others.
  ///   - width: The width of the tensor in pixels.
  ///   - height: The height of the tensor in pixels.
  ///   - cropAndScale: How the image fits the size.
  ///   - scale: One factor per channel, or one for all; three channels are red, green and blue, one is grey.
  ///   - bias: One offset per channel, or one for all.
  /// - Throws: ``ImageError`` (`invalidArgument`) where a size or a count does not fit.
  public func fill(
    _ tensor: UnsafeMutableBufferPointer<Float>, width: Int, height: Int, cropAndScale: ImageCropAndScale,
    scale: [Float] = [1], bias: [Float] = [0]
  ) throws(ImageError) {
    let order: ChannelOrder = format.isGray ? .grayscale : .rgb
    guard let count = Self.byteCount(width, height, format.isGray ? .gray8 : .rgb8), count == tensor.count,
      [1, order.count].contains(scale.count), [1, order.count].contains(bias.count)
    else {
      throw ImageError(
        .invalidArgument, "tensor",
        "\(tensor.count) elements with \(scale.count) factors and \(bias.count) offsets are not "
          + "\(order.count) x \(height) x \(width) with 1 or \(order.count) of each")
    }
    let sampler = ImageSampler(width: width, height: height, order: order, cropAndScale: cropAndScale)
    try withPixels { (view) throws(ImageError) in try sampler.sample(view, scale: scale, bias: bias, into: tensor) }
  }
}
