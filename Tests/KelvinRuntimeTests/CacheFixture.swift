import KelvinDevices
import KelvinGraph
import KelvinRuntime

/// Entries that cache tests store.
enum CacheFixture {
  static let device = DeviceInfo(
    id: "cpu", name: "test", kind: .cpu, driver: "d", version: "1", memory: 1, resource: "cpu")

  /// A packed form of one byte, many times: what the weights have under the key, or else `byte`.
  @discardableResult
  static func pack(_ weights: CachedWeights, _ key: String, _ byte: UInt8, count: Int = 5000) throws -> [UInt8] {
    try weights.packed(key, byteCount: count) { raw in for index in 0..<raw.count { raw[index] = byte } }
      .withUnsafeBytes { Array($0) }
  }
}
