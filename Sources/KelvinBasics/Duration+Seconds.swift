extension Duration {
  /// The seconds. A whole number of microseconds is the nearest number, so that it prints in its digits.
  package var inSeconds: Double {
    Double(Int128(components.seconds) * 1_000_000_000_000_000_000 + Int128(components.attoseconds)) / 1e18
  }

  /// Returns a duration of seconds. It is limited to ± 9e18 seconds, and not-a-number is zero.
  package static func limited(seconds: Double) -> Duration {
    let longest = 9e18
    return seconds.isNaN ? .zero : .seconds(min(max(seconds, -longest), longest))
  }
}
