import KelvinGraph
import KelvinImport

extension ONNXOperation {
  /// Returns the first input's values in a low-precision type, as `Cast` and `CastLike` do.
  func cast(to type: ONNXLowPrecisionType) throws -> ValueID {
    let x = try input(0)
    if lowPrecisionType(0) == type { return x }
    let mode = text("round_mode", default: "up")
    guard let rounding = PowerRounding(rawValue: mode) else {
      throw emitter.invalid("its round_mode is '\(mode)', expected up, down or nearest")
    }
    return try emitter.cast(x, to: type, saturates: flag("saturate", default: true), rounding: rounding)
  }

  /// `y = round(x / scale + zeroPoint)`, in a low-precision floating-point type; the quotient has the type of the
  /// scale.
  func quantize(_ x: ValueID, _ scale: ValueID, _ zero: ValueID?, toFloat type: ONNXLowPrecisionType) throws -> ValueID
  {
    let axis = try quantizationAxis(of: x, scale, axis: nil)
    let divisor = try emitter.spread(scale, axis, over: x, step: "scale")
    var quotient = try emitter.binary(
      .divide, try emitter.cast(x, to: emitter.scalar(scale), step: "dividend"), divisor, step: "quotient")
    if let zero, !emitter.isZero(zero) {
      let addend = try emitter.spread(
        try emitter.cast(zero, to: emitter.scalar(scale), step: "zero"), axis, over: x, step: "zero")
      quotient = try emitter.binary(.add, quotient, addend, step: "shifted")
    }
    return try emitter.cast(quotient, to: type, saturates: flag("saturate", default: true))
  }

  /// `y = (x - zeroPoint) · scale` for floating-point numbers, computed in the type of the result.
  ///
  /// - Parameter axis: The axis of several scales; nil for the one that attributes name.
  func dequantizeFloat(
    _ x: ValueID, _ scale: ValueID, _ zero: ValueID?, _ scalar: ScalarType, axis: Int? = nil, step: String? = nil
  ) throws -> ValueID {
    let place = step.map { "\($0)_" } ?? ""
    let axis = try quantizationAxis(of: x, scale, axis: axis)
    var number = try emitter.cast(x, to: scalar, step: "\(place)number")
    if let zero, !emitter.isZero(zero) {
      let subtrahend = try emitter.spread(
        try emitter.cast(zero, to: scalar, step: "\(place)zero"), axis, over: x, step: "\(place)zero")
      number = try emitter.binary(.subtract, number, subtrahend, step: "\(place)shifted")
    }
    let factor = try emitter.spread(
      try emitter.cast(scale, to: scalar, step: "\(place)scale"), axis, over: x, step: "\(place)scale")
    return try emitter.binary(.multiply, number, factor, step: step)
  }
}

extension Emitter {
  /// Whether a quantization parameter is a constant of zeros. Large constants are not examined and count as nonzero.
  fileprivate func isZero(_ id: ValueID) -> Bool {
    guard let weight = weight(id), weight.type.count <= 1 << 16 else { return false }
    return weight.dense().floats.allSatisfy { $0 == 0 }
  }

  /// Returns a scale or zero point in a shape that broadcasts to x; `axis` defines which elements share it.
  fileprivate func spread(
    _ parameter: ValueID, _ axis: QuantizationAxis, over x: ValueID, step: String
  ) throws -> ValueID {
    guard let place = axis.axis else { return try reshape(parameter, [], step: "\(step)_alone") }
    let (shape, given) = (shape(x), shape(parameter))
    let block = axis.blockSize
    guard block > 1 else {
      guard given.dimensions == [shape[place]] else {
        throw invalid(
          "\(step): expected \(shape[place]) elements for axis \(place) of \(type(x)), got \(type(parameter))")
      }
      let rest = [Int](repeating: 1, count: shape.rank - place - 1)
      return try reshape(parameter, Shape([shape[place]] + rest), step: "\(step)_along_axis")
    }
    var expected = shape.dimensions
    expected[place] = shape[place] / block + (shape[place] % block == 0 ? 0 : 1)
    guard given.dimensions == expected else {
      throw invalid("\(step): expected \(Shape(expected)) for blocks of \(block), got \(type(parameter))")
    }
    let places = try table(.int64, [shape[place]], step: "\(step)_places") {
      (0..<shape[place]).map { Double($0 / block) }
    }
    return try add(Gather(axis: place), parameter, places, step: "\(step)_of_block")
  }
}
