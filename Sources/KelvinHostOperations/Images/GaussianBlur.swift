import Glibc
package import KelvinGraph

/// Blurs an image by a normal distribution (`GaussianBlur` of onnxruntime-extensions). Inputs: float32 pixels
/// `[1, height, width, 3]`, the height and width of the kernel, and the deviations of the columns and of the rows. The
/// image is mirrored beyond its edges, without the edge itself.
///
/// Reference: OpenCV, "Image filtering", `GaussianBlur` and `getGaussianKernel`.
package struct GaussianBlur: SlotOperation {
  package static let name = "gaussian_blur"
  package let slots: HostSlots
  /// The greatest size of a kernel.
  private static let limit = 1 << 10

  package init(_ slots: HostSlots) { self.slots = slots }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] { [inputs[0]] }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let image = try tensor(0, inputs)
    guard image.shape.rank == 4, image.shape[0] == 1, image.shape[3] == 3 else {
      throw refused(0, "expected an image [1, height, width, 3], got \(image.type)")
    }
    let (sizes, deviations) = (try integers(1, inputs).integers, try tensor(2, inputs).doubles)
    guard sizes.count == 2, deviations.count == 2 else {
      throw refused(1, "expected two sizes and two deviations, got \(sizes.count) and \(deviations.count)")
    }
    let columns = try kernel(sizes[1], deviations[0])
    let rows = try kernel(sizes[0], deviations[1] > 0 ? deviations[1] : deviations[0])
    let across = blurred(image.floats, image.shape, axis: 2, columns)
    return [.tensor(Tensor(blurred(across, image.shape, axis: 1, rows), image.shape))]
  }

  /// Returns the weights of a kernel. The size 0 stands for one of about 8 deviations, and the deviation 0 for one of the
  /// size: small kernels without a deviation are of binomial coefficients or close to them.
  private func kernel(_ size: Int, _ deviation: Double) throws(HostOperationError) -> [Float] {
    var size = size
    if size <= 0, deviation > 0, deviation < Double(Self.limit) { size = Int((deviation * 8 + 1).rounded()) | 1 }
    guard size % 2 == 1, (1...Self.limit).contains(size) else {
      throw refused(1, "the size of a kernel is \(size)", remedy: "give an odd one below \(Self.limit)")
    }
    let small: [Int: [Float]] = [
      1: [1], 3: [0.25, 0.5, 0.25], 5: [0.0625, 0.25, 0.375, 0.25, 0.0625],
      7: [0.03125, 0.109375, 0.21875, 0.28125, 0.21875, 0.109375, 0.03125],
    ]
    if !(deviation > 0), let known = small[size] { return known }
    let width = deviation > 0 ? deviation : (Double(size - 1) / 2 - 1) * 0.3 + 0.8
    let weights = (0..<size).map { index in
      let distance = Double(index) - Double(size - 1) / 2
      return exp(-distance * distance / (2 * width * width))
    }
    let sum = weights.reduce(0, +)
    return weights.map { Float($0 / sum) }
  }

  private func blurred(_ pixels: [Float], _ shape: Shape, axis: Int, _ kernel: [Float]) -> [Float] {
    let (outer, length, inner) = shape.around(axis)
    var result = [Float](repeating: 0, count: pixels.count)
    for place in 0..<outer * inner {
      let start = place / inner * length * inner + place % inner
      for index in 0..<length {
        var sum: Float = 0
        for (offset, weight) in kernel.enumerated() {
          sum += weight * pixels[start + mirrored(index + offset - kernel.count / 2, length) * inner]
        }
        result[start + index * inner] = sum
      }
    }
    return result
  }

  /// Returns the index in an axis that a mirrored index stands for.
  private func mirrored(_ index: Int, _ length: Int) -> Int {
    guard length > 1 else { return 0 }
    let place = index.magnitude % UInt(2 * length - 2)
    return min(Int(place), 2 * length - 2 - Int(place))
  }
}
