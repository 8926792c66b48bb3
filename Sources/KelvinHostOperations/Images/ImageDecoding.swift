package import KelvinGraph
import KelvinImages

/// Decodes an image file, given as a tensor of bytes, into pixels `[height, width, channels]`. The file's orientation
/// metadata is ignored (ONNX's `ImageDecoder`).
package struct ImageDecoding: OneInputOperation {
  package enum Channels: String, Hashable, Sendable {
    case rgb = "RGB"
    case bgr = "BGR"
    /// Luma by ITU-R BT.601, `(19595 R + 38470 G + 7471 B) / 65536`.
    case grayscale = "Grayscale"
  }

  package static let name = "image_decoding"
  package let channels: Channels
  package let input: String
  package let output: String

  package init(_ channels: Channels, input: String, output: String) {
    self.channels = channels
    self.input = input
    self.output = output
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let file = try tensor(0, inputs)
    guard file.type.scalar == .uint8 else { throw refused(0, "expected the bytes of an image, got \(file.type)") }
    let pixels: PixelBuffer
    do throws(ImageError) {
      pixels = try file.bytes.withUnsafeBytes { (bytes) throws(ImageError) in
        try ImageCodec.decode(bytes, name: input).pixels
      }
    } catch {
      throw refused(0, error.reason, remedy: error.remedy)
    }
    let shape: Shape = [pixels.height, pixels.width, channels == .grayscale ? 1 : 3]
    return [.tensor(Tensor(TensorType(.uint8, shape), Bytes(arranged(pixels.bytes))))]
  }

  /// Returns bytes of red, green and blue in the requested channel order.
  private func arranged(_ bytes: [UInt8]) -> [UInt8] {
    switch channels {
    case .rgb: return bytes
    case .bgr: return bytes.indices.map { bytes[$0 - $0 % 3 + 2 - $0 % 3] }
    case .grayscale:
      return stride(from: 0, to: bytes.count, by: 3).map { place in
        let weighted = 19595 * Int(bytes[place]) + 38470 * Int(bytes[place + 1]) + 7471 * Int(bytes[place + 2])
        return UInt8((weighted + 1 << 15) >> 16)
      }
    }
  }
}
