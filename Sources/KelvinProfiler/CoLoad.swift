import KelvinBasics

/// Other load on a machine while a model runs: shares of devices, memory traffic, a working set in the caches.
///
/// The parts have names and values as strings, also on the command line of a load process: `cpu=0.3`, `vulkan:0=0.5`,
/// `memory=4GB/s`, `cache=16MB`.
package struct CoLoad: Sendable, Hashable {
  /// The share of a device's time, 0 ..< 1, by device identifier.
  package var shares: [String: Double]
  /// Bytes read or written per second beyond the caches.
  package var memoryBytesPerSecond: Double
  /// Bytes accessed in each period, so that they stay in the caches.
  package var cacheBytes: Int

  /// Limits that detect mistyped values: a terabyte per second and a gibibyte.
  package static let mostBytesPerSecond = 1e12
  package static let mostCacheBytes = 1 << 30

  package init(shares: [String: Double] = [:], memoryBytesPerSecond: Double = 0, cacheBytes: Int = 0) {
    self.shares = shares
    self.memoryBytesPerSecond = memoryBytesPerSecond
    self.cacheBytes = cacheBytes
  }

  package var isEmpty: Bool { shares.allSatisfy { $0.value <= 0 } && memoryBytesPerSecond <= 0 && cacheBytes <= 0 }

  /// Each part in the format of `set(_:to:)`.
  package var items: [(name: String, text: String)] {
    var items = shares.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { (name: $0.key, text: "\($0.value)") }
    if memoryBytesPerSecond > 0 { items.append(("memory", memoryText)) }
    if cacheBytes > 0 { items.append(("cache", cacheText)) }
    return items
  }

  /// A string such as `4000MB/s`, exact to the kilobyte.
  package var memoryText: String { "\(memoryBytesPerSecond / 1e6)MB/s" }
  package var cacheText: String { "\(cacheBytes)B" }

  /// Adds a part, or replaces it.
  ///
  /// - Returns: a description of the expected value; nil when `text` is valid.
  package mutating func set(_ name: String, to text: String) -> String? {
    switch name {
    case "memory":
      guard text.hasSuffix("/s"), let rate = ByteSize.bytes(text.dropLast(2)), rate <= Self.mostBytesPerSecond else {
        return "a rate such as 4GB/s"
      }
      memoryBytesPerSecond = rate
    case "cache":
      guard let bytes = ByteSize.bytes(text), bytes <= Double(Self.mostCacheBytes) else {
        return "a size of at most 1 GiB such as 16MB"
      }
      cacheBytes = Int(bytes)
    default:
      guard let share = NumberText.number(text) else { return "a share from 0 to 0.95" }
      shares[name] = share
    }
    return nil
  }
}
