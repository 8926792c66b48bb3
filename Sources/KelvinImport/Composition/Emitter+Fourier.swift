import Glibc
package import KelvinGraph

extension Emitter {
  /// Returns the discrete Fourier transform along an axis of real or complex numbers, whose parts are the last axis, as
  /// one product with a matrix: `y[k] = Σ x[t] e^(-2πi k t / length)`. The inverse has the other sign and is divided by
  /// the length.
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
    let inputs = isReal ? length / 2 + 1 : length
    let outputs = isOneSided && !isInverse ? length / 2 + 1 : length
    let matrix = FourierMatrix(
      length: length, inputs: inputs, outputs: outputs, inputParts: parts, outputParts: isReal ? 1 : 2,
      isInverse: isInverse, isOneSided: isOneSided)
    guard (1..<(1 << 24)).contains(length) else { throw invalid("a transform of length \(length)") }
    // Moves the axis next to that of the parts.
    let others = (0..<sizes.rank - 1).filter { $0 != axis }
    var numbers = try transpose(x, others + [axis, sizes.rank - 1], step: "axis_last")
    var after = [Int](repeating: 0, count: sizes.rank)
    after[sizes.rank - 2] = inputs - sizes[axis]
    numbers = try pad(
      numbers, before: after.map { _ in 0 }, after: after, mode: .constant(0), step: "whole_axis")
    let outer = others.map { sizes[$0] }
    let rows = try reshape(numbers, Shape(outer + [inputs * parts]), step: "rows")
    let weights = try table(
      scalar(x), [outputs * matrix.outputParts, inputs * parts], step: "matrix", matrix.numbers)
    let product = try add(Linear(), rows, weights, step: "product")
    let result = try reshape(product, Shape(outer + [outputs, matrix.outputParts]), step: "numbers")
    var back = Array(0..<outer.count)
    back.insert(outer.count, at: axis)
    return try transpose(result, back + [sizes.rank - 1])
  }
}

private struct FourierMatrix: Sendable {
  let length: Int
  let inputs: Int
  let outputs: Int
  let inputParts: Int
  let outputParts: Int
  let isInverse: Bool
  let isOneSided: Bool

  /// Returns the matrix; rows are (output, part), columns (input, part).
  func numbers() -> [Double] {
    // With a real result, each of the frequencies except the ends also stands for its conjugate.
    let isReal = isInverse && isOneSided
    var values: [Double] = []
    values.reserveCapacity(outputs * outputParts * inputs * inputParts)
    for output in 0..<outputs {
      for part in 0..<outputParts {
        for input in 0..<inputs {
          let angle = 2 * Double.pi * Double(output * input % length) / Double(length)
          let (cosine, sine) = (cos(angle), isInverse ? sin(angle) : -sin(angle))
          let isEnd = input == 0 || 2 * input == length
          let scale = (isInverse ? 1 / Double(length) : 1) * (isReal && !isEnd ? 2 : 1)
          // (a + ib)(cosine + i sine)
          values.append(scale * (part == 0 ? cosine : sine))
          if inputParts == 2 { values.append(isReal && isEnd ? 0 : scale * (part == 0 ? -sine : cosine)) }
        }
      }
    }
    return values
  }
}
