/// The decimals of numbers in a document: all, or the few that the line of a frame needs.
enum Decimals {
  case all
  case few

  /// A share or a confidence: few are four decimals.
  func share(_ value: some BinaryFloatingPoint) -> Double { rounded(Double(value), 1e4) }

  /// A position in pixels: few are two decimals.
  func pixels(_ value: Double) -> Double { rounded(value, 1e2) }

  /// A time in seconds: few are microseconds.
  func seconds(_ value: Double) -> Double { rounded(value, 1e6) }

  private func rounded(_ value: Double, _ unit: Double) -> Double {
    self == .all || !value.isFinite ? value : (value * unit).rounded() / unit
  }
}
