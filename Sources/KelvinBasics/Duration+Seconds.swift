extension Duration {
  package var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }

  /// Returns a duration of seconds. It is limited to ± 9e18 seconds, and not-a-number is zero.
  package static func limited(seconds: Double) -> Duration {
    let longest = 9e18
    return seconds.isNaN ? .zero : .seconds(min(max(seconds, -longest), longest))
  }
}
