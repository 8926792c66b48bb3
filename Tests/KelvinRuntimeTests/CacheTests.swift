import FoundationEssentials
import KelvinDevices
import KelvinGraph
import KelvinRuntime
import Testing

@Suite struct CacheTests {
  private let folder = "\(FileManager.default.temporaryDirectory.path)/kelvin-cache-\(UInt64.random(in: 0 ..< .max))"

  private let info = DeviceInfo(
    id: "cpu", name: "test", kind: .cpu, driver: "d", version: "1", memory: 1, resource: "cpu")

  private func cache(_ version: String = "1") -> CompiledCache {
    CompiledCache(CacheDirectory(folder), kelvinVersion: version)
  }

  private func weights(_ cache: CompiledCache) -> CachedWeights {
    cache.weights(ContentKey(["model"]), function: "main", device: info, precision: .full)
  }

  private func pack(_ weights: CachedWeights, _ key: String, _ byte: UInt8, count: Int = 5000) throws -> [UInt8] {
    try weights.packed(key, byteCount: count) { raw in for index in 0..<raw.count { raw[index] = byte } }
      .withUnsafeBytes { Array($0) }
  }

  @Test func packedWeightsAreFoundAgain() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let first = weights(cache())
    _ = try pack(first, "a", 1)
    _ = try pack(first, "b", 2, count: 1)
    first.save()
    let second = weights(cache())
    #expect(try pack(second, "a", 99) == [UInt8](repeating: 1, count: 5000))
    #expect(try pack(second, "b", 99, count: 1) == [2])
    #expect(second.packedCount == 0)
    #expect(try pack(second, "c", 3) == [UInt8](repeating: 3, count: 5000))
    second.save()
    let third = weights(cache())
    #expect(try pack(third, "a", 99) == [UInt8](repeating: 1, count: 5000))
    #expect(try pack(third, "c", 99) == [UInt8](repeating: 3, count: 5000))
  }

  @Test func anotherVersionFindsNothing() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let first = weights(cache("1"))
    _ = try pack(first, "a", 1)
    first.save()
    #expect(try pack(weights(cache("2")), "a", 9) == [UInt8](repeating: 9, count: 5000))
  }

  @Test func aDamagedFileIsNeverTrusted() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let first = weights(cache())
    _ = try pack(first, "a", 1)
    first.save()
    let name = try #require(try FileManager.default.subpathsOfDirectory(atPath: folder).first { $0.hasSuffix(".pack") })
    let path = "\(folder)/\(name)"
    let whole = try Data(contentsOf: URL(filePath: path))
    var random = SeededGenerator(seed: 11)
    for attempt in 0..<300 {
      var damaged = whole
      // The header and the index are what a reader acts on; contents are guarded by the rename.
      switch attempt % 2 {
      case 0: damaged = damaged.prefix(Int.random(in: 0..<4096 + 5000, using: &random))
      default: damaged[Int.random(in: 0..<80, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
      }
      try damaged.write(to: URL(filePath: path))
      #expect(try pack(weights(cache()), "a", 7).first.map { $0 == 7 || $0 == 1 } == true)
      if attempt % 2 == 0 {
        #expect(try pack(weights(cache()), "a", 7) == [UInt8](repeating: 7, count: 5000), "attempt \(attempt), seed 11")
      }
    }
  }

  @Test func blobsAreCheckedByTheirHash() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let blobs = cache().blobs(info)
    let contents: [UInt8] = [1, 2, 3]
    contents.withUnsafeBytes { blobs.store("pipelines", $0) }
    #expect(cache().blobs(info).blob("pipelines")?.withUnsafeBytes { Array($0) } == contents)
    #expect(cache().blobs(info).blob("other") == nil)
    let name = try #require(try FileManager.default.subpathsOfDirectory(atPath: folder).first { $0.hasPrefix("blobs/") && $0.split(separator: "/").count == 3 })
    var data = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
    data[data.count - 1] ^= 1
    try data.write(to: URL(filePath: "\(folder)/\(name)"))
    #expect(cache().blobs(info).blob("pipelines") == nil)
  }

  @Test func modelKeysFollowContentsNotNames() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (a, b) = ("\(folder)/a", "\(folder)/b")
    try Data([1, 2, 3]).write(to: URL(filePath: a))
    try Data([1, 2, 3]).write(to: URL(filePath: b))
    let key = try cache().modelKey([a])
    #expect(try cache().modelKey([b]) == key)
    try Data([1, 2, 4, 5]).write(to: URL(filePath: b))
    #expect(try cache().modelKey([b]) != key)
    #expect(throws: FileError.self) { try cache().modelKey(["\(folder)/absent"]) }
  }

  @Test func aPlaceThatCannotBeWrittenIsAComplaintNotAFailure() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data([0]).write(to: URL(filePath: "\(folder)/file"))
    let blocked = CompiledCache(CacheDirectory("\(folder)/file/cache"), kelvinVersion: "1")
    let weights = weights(blocked)
    #expect(try pack(weights, "a", 1) == [UInt8](repeating: 1, count: 5000))
    weights.save()
    #expect(blocked.directory.complaint?.contains("file") == true)
  }
}
