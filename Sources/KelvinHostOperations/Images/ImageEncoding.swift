package import KelvinGraph
import KelvinImages

/// The bytes of an image file with the pixels `[height, width, 3]` (`EncodeImage` of onnxruntime-extensions).
package struct ImageEncoding: SlotOperation {
  package static let name = "image_encoding"
  /// Whether the file is a JPEG of quality 95; otherwise it is a PNG.
  package let isJPEG: Bool
  /// Whether the pixels are blue, green and red.
  package let isBlueFirst: Bool
  package let slots: HostSlots

  package init(isJPEG: Bool, isBlueFirst: Bool, _ slots: HostSlots) {
    self.isJPEG = isJPEG
    self.isBlueFirst = isBlueFirst
    self.slots = slots
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (pixels, shape) = try pixels(0, inputs)
    let ordered = isBlueFirst ? pixels.indices.map { pixels[$0 - $0 % 3 + 2 - $0 % 3] } : pixels
    do throws(ImageError) {
      let image = try PixelBuffer(width: shape[1], height: shape[0], format: .rgb8, bytes: ordered)
      let file = try ImageCodec.encode(image, as: isJPEG ? .jpeg(quality: 95) : .png, name: outputs[0])
      return [.tensor(Tensor(TensorType(.uint8, [file.count]), Bytes(file)))]
    } catch {
      throw refused(0, error.reason, remedy: error.remedy)
    }
  }
}

extension SlotOperation {
  /// Returns the bytes of an image `[height, width, 3]` of uint8.
  func pixels(_ position: Int, _ inputs: [HostValue]) throws(HostOperationError) -> ([UInt8], Shape) {
    let tensor = try tensor(position, inputs)
    guard tensor.type.scalar == .uint8, tensor.shape.rank == 3, tensor.shape[2] == 3 else {
      throw refused(position, "expected an image [height, width, 3] of uint8, got \(tensor.type)")
    }
    return (tensor.bytes.withUnsafeBytes { Array($0) }, tensor.shape)
  }
}
