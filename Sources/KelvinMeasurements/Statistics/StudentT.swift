import Glibc

/// Student's t distribution for integer degrees of freedom.
///
/// Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4.
enum StudentT {
  /// Returns the t that |T| exceeds with probability `level`.
  ///
  /// - Parameters:
  ///   - level: 0 < level < 1.
  ///   - degrees: degrees of freedom, at least 1.
  static func twoSided(level: Double, degrees: Int) -> Double {
    let root = Double(degrees).squareRoot()
    // Bisection over θ = arctan (t / √ν), which has a finite range.
    var (lower, upper) = (0.0, Double.pi / 2)
    for _ in 0..<80 {
      let middle = (lower + upper) / 2
      if within(angle: middle, degrees: degrees) < 1 - level { lower = middle } else { upper = middle }
    }
    return root * tan((lower + upper) / 2)
  }

  /// Returns P(|T| ≤ √ν tan θ).
  private static func within(angle: Double, degrees: Int) -> Double {
    let (sine, cosine) = (sin(angle), cos(angle))
    var sum = 0.0
    if degrees.isMultiple(of: 2) {
      var term = 1.0
      for step in stride(from: 2, through: degrees, by: 2) {
        sum += term
        term *= cosine * cosine * Double(step - 1) / Double(step)
      }
      return sine * sum
    }
    var term = cosine
    for step in stride(from: 3, through: degrees, by: 2) {
      sum += term
      term *= cosine * cosine * Double(step - 1) / Double(step)
    }
    return 2 / Double.pi * (angle + sine * sum)
  }
}
