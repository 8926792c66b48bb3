/// What an image looks like in 64 bits: images that were scaled, saved anew or slightly changed differ in few of them.
package enum PerceptualHash {
  private static let side = 8

  /// For each of 8 rows and 8 columns of the upright image, brought to 9 × 8 means, whether it is brighter than what is
  /// right of it (Krawetz's "difference hash"): from the top left, the first the most significant bit.
  package static func differences(in image: DecodedImage) throws(ImageError) -> UInt64 {
    let means = try image.pixels.reduced(width: side + 1, height: side, orientation: image.orientation)
    let channels = means.format.channelCount
    // Sums suffice to compare: weights of the eye change few bits, and none of an image saved anew.
    let brightness = stride(from: 0, to: means.bytes.count, by: channels).map { pixel in
      means.bytes[pixel..<pixel + channels].reduce(0) { $0 + Int($1) }
    }
    var hash: UInt64 = 0
    for y in 0..<side {
      for x in 0..<side {
        let place = y * (side + 1) + x
        hash = hash << 1 | (brightness[place] > brightness[place + 1] ? 1 : 0)
      }
    }
    return hash
  }
}
