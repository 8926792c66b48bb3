import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Returns the largest elements, and their positions.
  static let maxPool = ONNXMapper("MaxPool") { c in
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
