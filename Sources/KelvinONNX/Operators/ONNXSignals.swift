import Glibc
import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let signals: [ONNXMapper] = [
    window("HannWindow", [0.5, -0.5, 0]), window("HammingWindow", [25 / 46, -21 / 46, 0]),
    window("BlackmanWindow", [0.42, -0.5, 0.08]), melWeightMatrix, fourier, shortTimeFourier,
  ]

  /// A window function: `a + b cos(2πn/N) + c cos(4πn/N)`.
  private static func window(_ name: String, _ terms: [Double]) -> ONNXMapper {
    ONNXMapper(name, valueDependent: [0]) { c in
      guard let size = try c.constantIntegers(0, "size")?.first, (0..<(1 << 31)).contains(size) else {
        throw c.emitter.invalid("has no size")
      }
      let scalar = try c.elementType("output_datatype")
      let period = Double(max(c.flag("periodic", default: true) ? size : size - 1, 1))
      let window = try c.emitter.table(scalar, [size]) {
        (0..<size).map { place in
          let angle = 2 * Double.pi * Double(place) / period
          return terms[0] + terms[1] * cos(angle) + terms[2] * cos(2 * angle)
        }
      }
      return [window]
    }
  }

  /// Triangular filters over the bins of a spectrum, equally spaced on the mel scale `2595 log10(1 + f/700)`.
  private static let melWeightMatrix = ONNXMapper("MelWeightMatrix", valueDependent: [0, 1, 2, 3, 4]) { c in
    func number(_ index: Int, _ name: String) throws -> Double {
      guard let number = try c.constantNumber(index, name), number.isFinite, abs(number) < 0x1p31 else {
        throw c.emitter.invalid("has no \(name)")
      }
      return number
    }
    let filters = Int(try number(0, "number of mel bins"))
    let length = Int(try number(1, "length of the transform"))
    let rate = try number(2, "sample rate")
    let edges = [try number(3, "lower edge"), try number(4, "upper edge")].map { 2595 * log10(1 + $0 / 700) }
    let bins = length / 2 + 1
    let scalar = try c.elementType("output_datatype")
    guard filters >= 0, length >= 0, rate > 0 else {
      throw c.emitter.invalid("\(filters) mel bins of \(length) samples at \(rate) Hz")
    }
    let step = (edges[1] - edges[0]) / Double(filters + 2)
    /// Returns the bin at a corner of the triangles, numbered from the lower edge to the upper one.
    @Sendable func bin(_ corner: Int) -> Int {
      let frequency = 700 * (pow(10, (Double(corner) * step + edges[0]) / 2595) - 1)
      return Int(saturating: floor(Double(length + 1) * frequency / rate))
    }
    guard step >= 0, bin(0) >= 0, bin(filters + 1) < bins else {
      throw c.emitter.invalid("its edges are outside a spectrum of \(bins) bins")
    }
    let matrix = try c.emitter.table(scalar, [bins, filters]) {
      var matrix = [Double](repeating: 0, count: bins * filters)
      for filter in 0..<filters {
        let (low, centre, high) = (bin(filter), bin(filter + 1), bin(filter + 2))
        for bin in low...centre {
          matrix[bin * filters + filter] = low == centre ? 1 : Double(bin - low) / Double(centre - low)
        }
        for bin in centre..<high { matrix[bin * filters + filter] = Double(high - bin) / Double(high - centre) }
      }
      return matrix
    }
    return [matrix]
  }

  /// A Fourier transform. The axis is an attribute before operator set 20, and an input from then on.
  private static let fourier = ONNXMapper("DFT", valueDependent: [1, 2]) { c in
    let x = try c.input(0)
    let named = c.opset < 20 ? c.integer("axis", default: 1) : try c.constantIntegers(2, "axis")?.first ?? -2
    let axis = try c.emitter.axis(named, of: x)
    let length = try c.constantIntegers(1, "length")?.first
    return [
      try c.emitter.fourier(
        x, axis: axis, length: length, isInverse: c.flag("inverse"), isOneSided: c.flag("onesided"))
    ]
  }

  /// Transforms frames of a signal `[N, samples, 1 or 2]`, each multiplied by the window: `[N, frames, bins, 2]`.
  private static let shortTimeFourier = ONNXMapper("STFT", valueDependent: [1, 3]) { c in
    var x = try c.input(0)
    // PyTorch omits the last axis of a real signal.
    if c.emitter.shape(x).rank == 2 {
      x = try c.emitter.reshape(x, Shape(c.emitter.shape(x).dimensions + [1]), step: "real")
    }
    let signal = c.emitter.shape(x)
    let window = c.optional(2)
    let named = try c.constantIntegers(3, "frame length")?.first
    let length = named ?? window.flatMap { c.emitter.shape($0).dimensions.first }
    guard signal.rank == 3, let step = try c.constantIntegers(1, "frame step")?.first, let length, step > 0,
      (1...signal[1]).contains(length)
    else { throw c.emitter.invalid("frames of \(length ?? 0) samples do not fit \(c.emitter.type(x))") }
    let frames = 1 + (signal[1] - length) / step
    let indices = try c.emitter.table(.int64, [frames, length], step: "places") {
      (0..<frames).flatMap { frame in (0..<length).map { Double(frame * step + $0) } }
    }
    var cut = try c.emitter.add(Gather(axis: 1), x, indices, step: "frames")
    if let window {
      guard c.emitter.shape(window) == [length] else {
        throw c.emitter.invalid("a window of \(c.emitter.type(window)) for frames of \(length)")
      }
      cut = try c.emitter.binary(
        .multiply, cut, c.emitter.reshape(window, [length, 1], step: "window"), step: "weighted_frames")
    }
    return [
      try c.emitter.fourier(
        cut, axis: 2, length: nil, isInverse: false, isOneSided: c.flag("onesided", default: true))
    ]
  }
}

extension ONNXOperation {
  fileprivate func elementType(_ attribute: String) throws -> ScalarType {
    let number = integer(attribute, default: ONNXSchema.TensorProto.DataType.float)
    guard let scalar = ScalarType(onnx: number) else { throw unsupported("elements of ONNX's type number \(number)") }
    return scalar
  }
}
