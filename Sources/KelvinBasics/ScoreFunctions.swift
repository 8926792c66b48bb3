import Glibc

/// Returns 1 / (1 + e⁻ˣ).
package func logistic(_ x: Double) -> Double {
  // Avoids overflow for large magnitudes.
  let tail = exp(-x.magnitude)
  return x < 0 ? tail / (1 + tail) : 1 / (1 + tail)
}

/// Returns the softmax of scores; empty for no scores.
package func softmax(_ scores: [Double]) -> [Double] {
  let largest = scores.max() ?? 0
  let powers = scores.map { exp($0 - largest) }
  let sum = powers.reduce(0, +)
  return powers.map { $0 / sum }
}
