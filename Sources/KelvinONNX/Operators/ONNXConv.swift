import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let conv = ONNXMapper("Conv") { c in [try c.convolve(try c.input(0), try c.input(1))] }
}

extension ONNXOperation {
  /// Emits the convolution of images with filters, with the bias of input 2.
  ///
  /// - Parameter groups: The number of groups; nil for the number in the attribute.
  func convolve(_ x: ValueID, _ weights: ValueID, step: String? = nil, groups: Int? = nil) throws -> ValueID {
    let kernel = integers("kernel_shape") ?? Array(emitter.shape(weights).dimensions.dropFirst(2))
    let window = try window(kernel: kernel, over: x)
    let operands = [x, weights] + (optional(2).map { [$0] } ?? [])
    let op = Convolution(
      window: window, groups: groups ?? integer("group", default: 1), epilogue: Epilogue(hasBias: operands.count == 3))
    return try emitter.add(op, operands, step: step)
  }

  /// Returns the window of a convolution or pool: `strides`, `dilations`, `auto_pad`, `pads`.
  func window(kernel: [Int], over x: ValueID, roundsUp: Bool = false) throws -> Window {
    let sizes = Array(emitter.shape(x).dimensions.dropFirst(2))
    let padding: SpatialPadding
    switch text("auto_pad", default: "NOTSET") {
    case "NOTSET", "":
      let pads = integers("pads") ?? [Int](repeating: 0, count: 2 * kernel.count)
      guard pads.count == 2 * kernel.count else {
        throw emitter.invalid("\(pads.count) pads for \(kernel.count) spatial axes, expected \(2 * kernel.count)")
      }
      padding = .explicit(before: Array(pads.prefix(kernel.count)), after: Array(pads.suffix(kernel.count)))
    case "VALID": padding = .none
    case "SAME_UPPER": padding = .same(oddAtEnd: true)
    case "SAME_LOWER": padding = .same(oddAtEnd: false)
    case let other: throw emitter.invalid("auto_pad '\(other)' is not known")
    }
    do {
      return try Window(
        kernel: kernel, strides: integers("strides"), dilations: integers("dilations"), padding: padding,
        roundsUp: roundsUp, over: sizes)
    } catch { throw emitter.invalid(error.description) }
  }

  /// Returns the number of windows along each spatial axis of x.
  func count(of window: Window, over x: ValueID) throws -> [Int] {
    do { return try window.outputSizes(Array(emitter.shape(x).dimensions.dropFirst(2))) } catch {
      throw emitter.invalid(error.description)
    }
  }
}
