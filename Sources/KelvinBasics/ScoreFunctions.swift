import Glibc

/// 1 / (1 + e⁻ˣ).
package func logistic(_ x: Double) -> Double {
  // Never the exponential of a large number.
  let tail = exp(-x.magnitude)
  return x < 0 ? tail / (1 + tail) : 1 / (1 + tail)
}

/// Shares of 1 that grow as the exponentials of scores do; nothing for none.
package func softmax(_ scores: [Double]) -> [Double] {
  let largest = scores.max() ?? 0
  let powers = scores.map { exp($0 - largest) }
  let sum = powers.reduce(0, +)
  return powers.map { $0 / sum }
}
