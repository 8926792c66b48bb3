/// A 64-bit hash of an image's appearance. Scaled, re-encoded or slightly changed images differ in few bits.
package enum PerceptualHash {
  private static let side = 8

  /// Computes the difference hash (Krawetz). The upright image is reduced to 9 × 8 mean values. Each bit tells whether
  /// a value is larger than its right neighbour, from the top left on, the most significant bit first.
  package static func differences(in image: DecodedImage) throws(ImageError) -> UInt64 {
    let means = try image.pixels.reduced(width: side + 1, height: side, orientation: image.orientation)
    let channels = means.format.channelCount
    // Unweighted sums of the channels suffice for the comparisons.
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
