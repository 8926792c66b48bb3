import KelvinBasics

/// A link between two devices for what-if plans, in both directions.
package struct LinkOverride: Sendable, Hashable {
  package var a: String
  package var b: String
  package var bytesPerSecond: Double
  /// The latency in seconds; nil keeps the latency of the actual link.
  package var latency: Double?

  package func joins(_ from: String, _ to: String) -> Bool { (a == from && b == to) || (a == to && b == from) }

  /// Parses `cpu:vulkan:0=64GB/s,5us`. Rates are in B, kB, MB, GB or TB per second (decimal) or KiB to TiB; times are
  /// in s, ms, us or ns.
  ///
  /// - Parameter devices: the ids of all devices, which contain colons themselves.
  /// - Throws: `invalidChoice` with the expected syntax.
  package init(_ text: String, devices: [String]) throws(RuntimeError) {
    func refuse(_ reason: String) -> RuntimeError {
      .invalidChoice("--link takes A:B=RATE[,LATENCY], e.g. cpu:vulkan:0=64GB/s,5us: \(reason)")
    }
    guard let sign = text.lastIndex(of: "=") else { throw refuse("'\(text)' has no '='") }
    let pair = String(text[..<sign])
    let ends = devices.lazy.flatMap { first in devices.map { (first, $0) } }
      .first { $0.0 != $0.1 && "\($0.0):\($0.1)" == pair }
    guard let ends else {
      throw refuse("'\(pair)' does not name two of the devices \(devices.joined(separator: ", "))")
    }
    let numbers = text[text.index(after: sign)...].split(separator: ",", omittingEmptySubsequences: false)
    guard (1...2).contains(numbers.count), numbers[0].hasSuffix("/s"),
      let rate = ByteSize.bytes(numbers[0].dropLast(2)), rate > 0
    else { throw refuse("'\(text[text.index(after: sign)...])' is not a rate such as 64GB/s") }
    (a, b) = ends
    bytesPerSecond = rate
    guard numbers.count == 2 else { return }
    guard let seconds = Self.seconds(numbers[1]) else {
      throw refuse("'\(numbers[1])' is not a time such as 5us")
    }
    latency = seconds
  }

  private static let times: [(unit: String, factor: Double)] = [
    ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9), ("s", 1),
  ]

  private static func seconds(_ text: Substring) -> Double? {
    guard let unit = times.first(where: { text.hasSuffix($0.unit) }),
      let value = NumberText.number(text.dropLast(unit.unit.count)), value >= 0
    else { return nil }
    return value * unit.factor
  }
}
