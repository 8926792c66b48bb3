import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let convTranspose = ONNXMapper("ConvTranspose") { c in
    let (x, weights) = (try c.input(0), try c.input(1))
    let kernel = c.integers("kernel_shape") ?? Array(c.emitter.shape(weights).dimensions.dropFirst(2))
    let op = try c.transposedConvolution(kernel, over: x)
    guard let bias = c.optional(2) else { return [try c.emitter.add(op, x, weights)] }
    let product = try c.emitter.add(op, x, weights, step: "product")
    return [try c.emitter.binary(.add, product, try c.emitter.channels(bias, of: product, step: "bias"))]
  }
}

extension ONNXOperation {
  /// Returns the operator of a transposed convolution. The padding is given, or follows from `output_shape` or from
  /// `auto_pad`; with `auto_pad` the size is `size · stride`.
  fileprivate func transposedConvolution(_ kernel: [Int], over x: ValueID) throws -> ConvolutionTranspose {
    let sizes = Array(emitter.shape(x).dimensions.dropFirst(2))
    let ones = [Int](repeating: 1, count: kernel.count)
    let strides = integers("strides") ?? ones
    let dilations = integers("dilations") ?? ones
    var outputPadding = integers("output_padding") ?? ones.map { _ in 0 }
    let lists = [sizes, strides, dilations, outputPadding]
    guard lists.allSatisfy({ $0.count == kernel.count }),
      (lists.joined() + kernel).allSatisfy({ 0...0xFFFF_FFFF ~= $0 })
    else { throw emitter.invalid("kernel, strides, dilations and output_padding do not fit \(emitter.type(x))") }
    var (before, after) = (ones.map { _ in 0 }, ones.map { _ in 0 })
    let auto = text("auto_pad", default: "NOTSET")
    guard ["NOTSET", "", "VALID", "SAME_UPPER", "SAME_LOWER"].contains(auto) else {
      throw emitter.invalid("auto_pad '\(auto)' is not known")
    }
    var wanted = integers("output_shape").map { Array($0.suffix(kernel.count)) }
    if wanted == nil, auto.hasPrefix("SAME") {
      wanted = zip(sizes, strides).map { $0.multipliedReportingOverflow(by: $1).0 }
    }
    if let wanted {
      guard wanted.count == kernel.count, wanted.allSatisfy({ (1..<(1 << 31)).contains($0) }) else {
        throw emitter.invalid("output_shape \(wanted)")
      }
      for axis in kernel.indices {
        let reach = dilations[axis] &* (kernel[axis] &- 1) &+ 1
        let full = strides[axis] &* (sizes[axis] &- 1) &+ reach &+ outputPadding[axis]
        let surplus = full &- wanted[axis]
        if surplus < 0 { outputPadding[axis] &-= surplus }
        let (small, large) = (max(0, surplus) / 2, max(0, surplus) - max(0, surplus) / 2)
        (before[axis], after[axis]) = auto == "SAME_UPPER" ? (small, large) : (large, small)
      }
    } else if let pads = integers("pads"), auto != "VALID" {
      guard pads.count == 2 * kernel.count else {
        throw emitter.invalid("\(pads.count) pads for \(kernel.count) spatial axes, expected \(2 * kernel.count)")
      }
      (before, after) = (Array(pads.prefix(kernel.count)), Array(pads.suffix(kernel.count)))
    }
    return ConvolutionTranspose(
      window: Window(kernel: kernel, strides: strides, dilations: dilations, before: before, after: after),
      outputPadding: outputPadding, groups: integer("group", default: 1))
  }
}
