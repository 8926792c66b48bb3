import Glibc
package import KelvinGraph

extension Emitter {
  /// Returns the discrete Fourier transform along an axis of real or complex numbers, whose parts are the last axis:
  /// `y[k] = Σ x[t] e^(-2πi k t / length)`. The inverse has the other sign and is divided by the length.
  ///
  /// - Parameters:
  ///   - length: The length to which the axis is cut or filled with zeros; nil for its own.
  ///   - isOneSided: Whether only the first half of the frequencies is the result or, for the inverse, the input, so
  ///     that the result is real.
  package func fourier(
    _ x: ValueID, axis: Int, length given: Int?, isInverse: Bool, isOneSided: Bool
  ) throws -> ValueID {
    let sizes = shape(x)
    let parts = sizes.dimensions.last ?? 0
    guard sizes.rank >= 2, axis < sizes.rank - 1, parts == 1 || parts == 2 else {
      throw invalid("expected numbers of one or two parts behind axis \(axis), got \(type(x))")
    }
    let isReal = isInverse && isOneSided
    let length = given ?? (isReal ? 2 * (sizes[axis] - 1) : sizes[axis])
    guard (1..<(1 << 24)).contains(length) else { throw invalid("a transform of length \(length)") }
    let transform = FourierTransform(
      length: length, inputs: isReal ? length / 2 + 1 : length,
      outputs: isOneSided && !isInverse ? length / 2 + 1 : length, inputParts: parts, outputParts: isReal ? 1 : 2,
      isInverse: isInverse, scale: isInverse ? 1 / Double(length) : 1)
    // Moves the axis next to that of the parts.
    let others = (0..<sizes.rank - 1).filter { $0 != axis }
    let outer = others.map { sizes[$0] }
    var numbers = try transpose(x, others + [axis, sizes.rank - 1], step: "axis_last")
    numbers = try reshape(numbers, [outer.reduce(1, *), sizes[axis], parts], step: "rows")
    numbers = try sized(numbers, transform.inputs, step: "whole_axis")
    if isReal { numbers = try halves(numbers, length) }
    let result = try reshape(
      transformed(numbers, transform), Shape(outer + [transform.outputs, transform.outputParts]), step: "numbers")
    var back = Array(0..<outer.count)
    back.insert(outer.count, at: axis)
    return try transpose(result, back + [sizes.rank - 1])
  }

  /// Cuts axis 1 of `[rows, numbers, parts]` to a size, or fills it with zeros.
  private func sized(_ x: ValueID, _ size: Int, step: String) throws -> ValueID {
    try pad(x, before: [0, 0, 0], after: [0, size - shape(x)[1], 0], mode: .constant(0), step: step)
  }

  /// Weights the frequencies `[rows, length / 2 + 1, parts]` of a real result: each except the ends also stands for its
  /// conjugate, and the ends are real.
  private func halves(_ x: ValueID, _ length: Int) throws -> ValueID {
    let (count, parts) = (shape(x)[1], shape(x)[2])
    let weights = try table(scalar(x), [count, parts], step: "halves") {
      (0..<count).flatMap { place in
        let isEnd = place == 0 || 2 * place == length
        return (0..<parts).map { isEnd ? 1 - Double($0) : 2 }
      }
    }
    return try binary(.multiply, x, weights, step: "weighted")
  }

  /// Transforms `[rows, inputs, inputParts]` to `[rows, outputs, outputParts]`.
  ///
  /// A short transform is one product with a matrix. A long one of length `n = a b` is split (Cooley and Tukey 1965):
  /// with `t = b t₁ + t₂` and `k = k₁ + a k₂`, it transforms length `a` over `t₁` for each `t₂`, and then length `b` over
  /// `t₂` for each `k₁`. The second matrix differs for each `k₁`, because it contains the factors `e^(-2πi t₂ k₁ / n)`.
  private func transformed(_ x: ValueID, _ transform: FourierTransform) throws -> ValueID {
    let step = "_\(transform.length)"
    let rows = shape(x)[0]
    guard scalar(x) != .float16, let inner = transform.innerLength else {
      let flat = try reshape(x, [rows, transform.inputs * transform.inputParts], step: "flat\(step)")
      let weights = try table(scalar(x), transform.matrixShape, step: "matrix\(step)", transform.matrix)
      let product = try add(Linear(), flat, weights, step: "product\(step)")
      return try reshape(product, [rows, transform.outputs, transform.outputParts], step: "parts\(step)")
    }
    let outer = transform.length / inner
    let first = transform.outer(inner)
    var y = try sized(x, first.inputs * inner, step: "whole\(step)")
    y = try reshape(y, [rows, first.inputs, inner, first.inputParts], step: "split\(step)")
    y = try transpose(y, [0, 2, 1, 3], step: "columns\(step)")
    y = try reshape(y, [rows * inner, first.inputs, first.inputParts], step: "column_rows\(step)")
    y = try reshape(transformed(y, first), [rows, inner, outer, 2], step: "frequencies\(step)")
    y = try transpose(y, [2, 0, 1, 3], step: "frequencies_first\(step)")
    y = try reshape(y, [outer, rows, inner * 2], step: "frequency_rows\(step)")
    let kept = (transform.outputs + outer - 1) / outer
    let weights = try table(scalar(x), [outer, inner * 2, kept * transform.outputParts], step: "matrices\(step)") {
      transform.matrices(inner, kept)
    }
    y = try add(MatMul(), y, weights, step: "products\(step)")
    y = try reshape(y, [outer, rows, kept, transform.outputParts], step: "results\(step)")
    y = try transpose(y, [1, 2, 0, 3], step: "result_rows\(step)")
    y = try reshape(y, [rows, kept * outer, transform.outputParts], step: "joined\(step)")
    return try sized(y, transform.outputs, step: "kept\(step)")
  }
}

/// A discrete Fourier transform of the first `inputs` numbers (the others are 0) to the first `outputs` frequencies.
private struct FourierTransform: Sendable {
  let length: Int
  let inputs: Int
  let outputs: Int
  let inputParts: Int
  /// 1 for the real part only.
  let outputParts: Int
  let isInverse: Bool
  /// The factor of every result.
  let scale: Double

  /// The largest number of elements of a matrix that is not split.
  private static let shortMatrix = 1 << 12
  /// The largest number of elements of the matrices of a split transform.
  private static let longMatrices = 1 << 22

  var matrixShape: Shape { [outputs * outputParts, inputs * inputParts] }

  /// The length of the second transform of a split: the divisor next to the square root for which the matrices are
  /// small enough; nil if the transform is short or its length has no such divisor.
  var innerLength: Int? {
    guard outputs * outputParts * inputs * inputParts > Self.shortMatrix else { return nil }
    var largest = 2
    while (largest + 1) * (largest + 1) <= length, 4 * (largest + 1) * length <= Self.longMatrices { largest += 1 }
    return (2...largest).last { length.isMultiple(of: $0) }
  }

  /// The first transform of a split.
  func outer(_ inner: Int) -> FourierTransform {
    FourierTransform(
      length: length / inner, inputs: (inputs + inner - 1) / inner, outputs: length / inner, inputParts: inputParts,
      outputParts: 2, isInverse: isInverse, scale: 1)
  }

  /// Returns the real factors of an input's parts in an output's part, by the number of turns.
  private func factors(_ turns: Double, _ part: Int, _ inputParts: Int) -> [Double] {
    let angle = 2 * Double.pi * turns
    let (cosine, sine) = (scale * cos(angle), scale * (isInverse ? sin(angle) : -sin(angle)))
    // (a + ib)(cosine + i sine)
    return Array((part == 0 ? [cosine, -sine] : [sine, cosine]).prefix(inputParts))
  }

  /// Returns the matrix; rows are (output, part), columns (input, part).
  func matrix() -> [Double] {
    var values: [Double] = []
    values.reserveCapacity(matrixShape.count)
    for output in 0..<outputs {
      for part in 0..<outputParts {
        for input in 0..<inputs {
          values += factors(Double(output * input % length) / Double(length), part, inputParts)
        }
      }
    }
    return values
  }

  /// Returns the matrices of the second transform of a split, one for each `k₁`; rows are (`t₂`, part), columns (`k₂`,
  /// part).
  func matrices(_ inner: Int, _ kept: Int) -> [Double] {
    let outer = length / inner
    var values: [Double] = []
    values.reserveCapacity(outer * inner * 2 * kept * outputParts)
    for first in 0..<outer {
      for time in 0..<inner {
        for inputPart in 0..<2 {
          for second in 0..<kept {
            let turns = Double(time * (first + outer * second) % length) / Double(length)
            for part in 0..<outputParts { values.append(factors(turns, part, 2)[inputPart]) }
          }
        }
      }
    }
    return values
  }
}
