import KelvinGraph
import KelvinImport

extension MILMapper {
  static let convTranspose = MILMapper("conv_transpose") { operation, scope in
    let x = try operation.value("x", scope)
    let weights = try operation.value("weight", scope)
    let kernel = Array(scope.emitter.shape(weights).dimensions.dropFirst(2))
    let op = try operation.transposedConvolution(kernel, over: x, scope)
    guard let bias = try operation.optional("bias", scope) else { return try scope.emitter.add(op, x, weights) }
    let product = try scope.emitter.add(op, x, weights, step: "product")
    let column = try scope.emitter.channels(bias, of: product, step: "bias")
    return try scope.emitter.binary(.add, product, column)
  }
}

extension MILOperation {
  /// Returns the operator of a transposed convolution. With `same` padding the result has size `size · stride`; with
  /// `output_shape`, that size.
  fileprivate func transposedConvolution(
    _ kernel: [Int], over x: ValueID, _ scope: MILScope
  ) throws -> ConvolutionTranspose {
    let ones = [Int](repeating: 1, count: kernel.count)
    let sizes = Array(scope.emitter.shape(x).dimensions.dropFirst(2))
    let strides = try integers("strides", scope) ?? ones
    let dilations = try integers("dilations", scope) ?? ones
    guard [strides, dilations, sizes].allSatisfy({ $0.count == kernel.count }),
      (strides + dilations + sizes + kernel).allSatisfy({ 0...0xFFFF_FFFF ~= $0 })
    else { throw scope.emitter.invalid("kernel, strides and dilations do not fit \(scope.emitter.type(x))") }
    let type = try text("pad_type", scope)?.lowercased() ?? "valid"
    var (before, after) = (ones.map { _ in 0 }, ones.map { _ in 0 })
    var wanted = try integers("output_shape", scope).map { Array($0.suffix(kernel.count)) }
    switch type {
    case "valid": break
    case "same", "same_lower":
      if wanted == nil { wanted = zip(sizes, strides).map { $0 &* $1 } }
    case "custom":
      let pads = try integers("pad", scope) ?? [Int](repeating: 0, count: 2 * kernel.count)
      guard pads.count == 2 * kernel.count, pads.allSatisfy({ 0...0xFFFF_FFFF ~= $0 }) else {
        throw scope.emitter.invalid("pads \(pads) for \(kernel.count) spatial axes")
      }
      (before, after) = (kernel.indices.map { pads[2 * $0] }, kernel.indices.map { pads[2 * $0 + 1] })
    case let other: throw scope.emitter.invalid("pad_type '\(other)' is not known")
    }
    var outputPadding = ones.map { _ in 0 }
    if let wanted {
      guard wanted.count == kernel.count, wanted.allSatisfy({ (1..<(1 << 31)).contains($0) }) else {
        throw scope.emitter.invalid("output_shape \(wanted)")
      }
      for axis in kernel.indices {
        let reach = dilations[axis] &* (kernel[axis] &- 1) &+ 1
        let natural = strides[axis] &* (sizes[axis] &- 1) &+ reach &- before[axis] &- after[axis]
        let surplus = natural &- wanted[axis]
        if surplus < 0 {
          outputPadding[axis] = 0 &- surplus
        } else if type == "same_lower" {
          before[axis] &+= surplus - surplus / 2
          after[axis] &+= surplus / 2
        } else if type == "same" {
          before[axis] &+= surplus / 2
          after[axis] &+= surplus - surplus / 2
        } else {
          after[axis] &+= surplus
        }
      }
    }
    return ConvolutionTranspose(
      window: Window(kernel: kernel, strides: strides, dilations: dilations, before: before, after: after),
      outputPadding: outputPadding, groups: try integer("groups", scope) ?? 1)
  }
}
