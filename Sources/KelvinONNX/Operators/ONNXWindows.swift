import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Convolutions and pooling.
  static let windows: [ONNXMapper] = [
    conv, convTranspose, averagePool, lpPool, globalLpPool, globalAveragePool, globalMaxPool, maxPool,
  ]

  private static let conv = ONNXMapper("Conv") { c in [try c.convolve(try c.input(0), try c.input(1))] }

  private static let convTranspose = ONNXMapper("ConvTranspose") { c in
    let (x, weights) = (try c.input(0), try c.input(1))
    let kernel = c.integers("kernel_shape") ?? Array(c.emitter.shape(weights).dimensions.dropFirst(2))
    let op = try c.transposedConvolution(kernel, over: x)
    guard let bias = c.optional(2) else { return [try c.emitter.add(op, x, weights)] }
    let product = try c.emitter.add(op, x, weights, step: "product")
    return [try c.emitter.binary(.add, product, try c.emitter.channels(bias, of: product, step: "bias"))]
  }

  private static let averagePool = ONNXMapper("AveragePool") { c in
    [try c.pool(c.flag("count_include_pad") ? .averageIncludingPadding : .average)]
  }

  /// `(Σ|x|^p)^(1/p)` over each window.
  private static let lpPool = ONNXMapper("LpPool") { c in
    let order = c.integer("p", default: 2)
    guard order >= 1 else { throw c.emitter.invalid("order \(order), expected 1 or more") }
    let x = try c.input(0)
    guard let kernel = c.integers("kernel_shape") else { throw c.emitter.invalid("kernel_shape is missing") }
    let window = try c.window(kernel: kernel, over: x, roundsUp: c.flag("ceil_mode"))
    return [try c.emitter.lengthPool(x, window, order: order)]
  }

  /// `(Σ|x|^p)^(1/p)` over all axes after the channels.
  private static let globalLpPool = ONNXMapper("GlobalLpPool") { c in
    let order = c.integer("p", default: 2)
    guard order >= 1 else { throw c.emitter.invalid("order \(order), expected 1 or more") }
    if order <= 2 { return [try c.globalPool(order == 1 ? .l1 : .l2)] }
    let x = try c.input(0)
    let (scalar, rank) = (c.emitter.scalar(x), c.emitter.shape(x).rank)
    guard rank >= 3 else { throw c.emitter.invalid("expected [N, C, spatial…], got \(c.emitter.type(x))") }
    let exponent = c.emitter.constant(Double(order), scalar, step: "order")
    let terms = try c.emitter.binary(
      .power, c.emitter.unary(UnaryFunction(.abs), x, step: "sizes"), exponent, step: "terms")
    let sum = try c.emitter.add(Reduce(.sum, axes: Array(2..<rank), keepsDimensions: true), terms, step: "sum")
    return [try c.emitter.binary(.power, sum, c.emitter.constant(1 / Double(order), scalar, step: "root"))]
  }

  private static let globalAveragePool = ONNXMapper("GlobalAveragePool") { c in [try c.globalPool(.mean)] }

  private static let globalMaxPool = ONNXMapper("GlobalMaxPool") { c in [try c.globalPool(.maximum)] }

  /// Returns the largest elements, and their positions.
  private static let maxPool = ONNXMapper("MaxPool") { c in
    let x = try c.input(0)
    let scalar = c.emitter.scalar(x)
    let hasPlaces = c.node.outputs.count > 1 && !c.node.outputs[1].isEmpty
    guard scalar.isByte else {
      let largest = try c.pool(.maximum)
      return hasPlaces ? [largest, try c.largestPlaces(x)] : [largest]
    }
    // Computed on the float32 values of 8-bit integers; passes replace this by integers if a device supports it.
    let one = c.emitter.constant(1, .float32, step: "one")
    let real = try c.dequantize(x, one, nil, step: "real")
    let largest = try c.quantize(try c.pool(.maximum, of: real, step: "largest"), one, nil, scalar)
    return hasPlaces ? [largest, try c.largestPlaces(real)] : [largest]
  }
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
    return try emitter.window(
      kernel: kernel, strides: integers("strides"), dilations: integers("dilations"), padding: padding,
      roundsUp: roundsUp, over: x)
  }

  /// Returns the number of windows along each spatial axis of x.
  func count(of window: Window, over x: ValueID) throws -> [Int] {
    do { return try window.outputSizes(Array(emitter.shape(x).dimensions.dropFirst(2))) } catch {
      throw emitter.invalid(error.description)
    }
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
    let outputPadding = integers("output_padding") ?? ones.map { _ in 0 }
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
    if wanted == nil, auto != "VALID", let pads = integers("pads") {
      guard pads.count == 2 * kernel.count else {
        throw emitter.invalid("\(pads.count) pads for \(kernel.count) spatial axes, expected \(2 * kernel.count)")
      }
      (before, after) = (Array(pads.prefix(kernel.count)), Array(pads.suffix(kernel.count)))
    }
    var op = ConvolutionTranspose(
      window: Window(kernel: kernel, strides: strides, dilations: dilations, before: before, after: after),
      outputPadding: outputPadding, groups: integer("group", default: 1))
    guard let wanted else { return op }
    guard wanted.count == kernel.count, wanted.allSatisfy({ (1..<(1 << 31)).contains($0) }) else {
      throw emitter.invalid("output_shape \(wanted)")
    }
    op.fit(wanted, over: sizes) { surplus in
      let (small, large) = (surplus / 2, surplus - surplus / 2)
      return auto == "SAME_UPPER" ? (small, large) : (large, small)
    }
    return op
  }
}

extension ONNXOperation {
  func pool(
    _ function: Pool.Function, of real: ValueID? = nil, step: String? = nil
  ) throws -> ValueID {
    let x = try real ?? input(0)
    guard let kernel = integers("kernel_shape") else { throw emitter.invalid("kernel_shape is missing") }
    let window = try window(kernel: kernel, over: x, roundsUp: flag("ceil_mode"))
    return try emitter.add(Pool(function, window: window), x, step: step)
  }

  fileprivate func globalPool(_ function: Reduce.Function) throws -> ValueID {
    let x = try input(0)
    let rank = emitter.shape(x).rank
    guard rank >= 3 else { throw emitter.invalid("expected [N, C, spatial…], got \(emitter.type(x))") }
    return try emitter.add(Reduce(function, axes: Array(2..<rank), keepsDimensions: true), x)
  }
}

extension ONNXOperation {
  /// Returns the index of the largest element of each window, the first of equals, in the whole tensor
  /// `[N, C, spatial…]`. With `storage_order` the first spatial axis is the innermost.
  fileprivate func largestPlaces(_ x: ValueID) throws -> ValueID {
    let source = emitter.shape(x)
    guard let kernel = integers("kernel_shape") else { throw emitter.invalid("kernel_shape is missing") }
    let window = try window(kernel: kernel, over: x, roundsUp: flag("ceil_mode"))
    let spatial = Shape(Array(source.dimensions.dropFirst(2)))
    let sizes = try count(of: window, over: x)
    guard spatial.count > 0, Shape(kernel + sizes).isAddressable else {
      throw emitter.invalid("windows \(kernel) of \(emitter.type(x))")
    }
    let (windows, elements, planes) = (Shape(sizes).count, Shape(kernel).count, source[0] * source[1])
    let rows = spatial.strides
    var order = rows
    if flag("storage_order") {
      for axis in order.indices { order[axis] = spatial.dimensions[..<axis].reduce(1, *) }
    }
    // A position outside the image is replaced by the window's first position inside. This changes neither the maximum
    // nor the first of equal elements.
    @Sendable func places(_ strides: [Int]) -> [Double] {
      let (steps, offsets) = (Shape(sizes).strides, Shape(kernel).strides)
      return (0..<windows).flatMap { number in
        let all = (0..<elements).map { element -> Int? in
          var place = 0
          for axis in kernel.indices {
            let first = number / steps[axis] % sizes[axis] * window.strides[axis] - window.before[axis]
            let along = first + element / offsets[axis] % kernel[axis] * window.dilations[axis]
            guard (0..<spatial[axis]).contains(along) else { return nil }
            place += along * strides[axis]
          }
          return place
        }
        let first = all.compactMap { $0 }.first ?? 0
        return all.map { Double($0 ?? first) }
      }
    }
    let count = Shape([windows, elements]).count
    let sources = try emitter.table(.int64, [count], step: "window_places") { places(rows) }
    let numbers = try emitter.table(.int64, [count], step: "window_numbers") { [order] in places(order) }
    let flat = try emitter.reshape(x, [planes, spatial.count], step: "planes")
    let gathered = try emitter.reshape(
      emitter.add(Gather(axis: 1), flat, sources, step: "elements"), [planes, windows, elements], step: "windows")
    let largest = try emitter.add(
      ArgReduce(.maximum, axis: 2, keepsDimensions: false, scalar: .int64), gathered, step: "largest_elements")
    let firsts = try emitter.table(.int64, [1, windows], step: "window_starts") {
      (0..<windows).map { Double($0 * elements) }
    }
    let chosen = try emitter.add(
      Gather(axis: 0), numbers, emitter.binary(.add, largest, firsts, step: "chosen"), step: "chosen_numbers")
    let starts = try emitter.table(.int64, [planes, 1], step: "plane_starts") {
      (0..<planes).map { Double($0 * spatial.count) }
    }
    let whole = try emitter.binary(.add, chosen, starts, step: "all_numbers")
    return try emitter.reshape(whole, Shape(source.dimensions.prefix(2) + sizes), step: "places")
  }
}
