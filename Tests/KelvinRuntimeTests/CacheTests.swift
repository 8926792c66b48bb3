import FoundationEssentials
import Glibc
import KelvinBasics
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
    cache.weights(ContentKey(["model"]), function: "main", device: info)
  }

  /// The files below a folder of the cache, by their paths in the cache.
  private func files(_ part: String) throws -> [String] {
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
      var isFolder = false
      return FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder) && !isFolder
        && (part.isEmpty || name.hasPrefix("\(part)/"))
    }
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
    let name = try #require(
      try FileManager.default.subpathsOfDirectory(atPath: folder).first {
        $0.hasPrefix("blobs/") && $0.split(separator: "/").count == 3
      })
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
    let key = try ContentKey(contentsOf: [a], memo: CacheDirectory(folder))
    #expect(try ContentKey(contentsOf: [b], memo: CacheDirectory(folder)) == key)
    try Data([1, 2, 4, 5]).write(to: URL(filePath: b))
    #expect(try ContentKey(contentsOf: [b], memo: CacheDirectory(folder)) != key)
    #expect(throws: FileError.self) { try ContentKey(contentsOf: ["\(folder)/absent"], memo: CacheDirectory(folder)) }
  }

  @Test func modelKeysAreTheSameWithAndWithoutAMemo() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = "\(folder)/model"
    try Data([1, 2, 3]).write(to: URL(filePath: file))
    let later = time(nil) + 60
    let key = try ContentKey(contentsOf: [file], memo: nil)
    for _ in 0..<2 { #expect(try ContentKey(contentsOf: [file], memo: CacheDirectory(folder), now: later) == key) }
  }

  @Test func aFileThatJustChangedIsHashedAgain() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = "\(folder)/model"
    try Data([1, 2, 3]).write(to: URL(filePath: file))
    _ = try ContentKey(contentsOf: [file], memo: CacheDirectory(folder))
    #expect(try files("sources").isEmpty)
    _ = try ContentKey(contentsOf: [file], memo: CacheDirectory(folder), now: time(nil) + 60)
    #expect(try files("sources").count == 1)
  }

  @Test func theMemoIsTrustedOnlyWhole() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = "\(folder)/model"
    try Data([1, 2, 3]).write(to: URL(filePath: file))
    let later = time(nil) + 60
    func key() throws -> ContentKey { try ContentKey(contentsOf: [file], memo: CacheDirectory(folder), now: later) }
    let right = try key()
    let memo = URL(filePath: "\(folder)/\(try #require(try files("sources").first))")
    let whole = try Data(contentsOf: memo)
    // Another hash with its own check is believed, so the memo is what answers.
    let other = ContentKey(["other"]).description
    try Data("\(ContentKey(Bytes(Array(other.utf8))))\(other)".utf8).write(to: memo)
    #expect(try key() == ContentKey([other]))
    for place in whole.indices {
      var damaged = whole
      damaged[place] ^= 1
      try damaged.write(to: memo)
      #expect(try key() == right)
    }
    // Contents changed in place, the modification time put back: the change time tells.
    try whole.write(to: memo)
    var status = stat()
    #expect(stat(file, &status) == 0)
    let descriptor = open(file, O_WRONLY)
    #expect(write(descriptor, [3, 2, 1] as [UInt8], 3) == 3 && close(descriptor) == 0)
    let times = [status.st_atim, status.st_mtim]
    #expect(utimensat(AT_FDCWD, file, times, 0) == 0)
    #expect(try key() != right)
  }

  @Test func oneStoreIsSharedWhileAnybodyHoldsIt() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let cache = cache()
    let first = weights(cache)
    #expect(weights(cache) === first)
    #expect(cache.weights(ContentKey(["model"]), function: "other", device: info) !== first)
    let registry = WeightRegistry<MemoryPackedWeights>()
    weak let gone = registry.store("a") { MemoryPackedWeights() }
    #expect(gone == nil)
    var isMade = false
    let held = registry.store("a") {
      isMade = true
      return MemoryPackedWeights()
    }
    #expect(isMade && registry.store("a") { MemoryPackedWeights() } === held)
  }

  @Test func whatOthersPackedIsKept() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (first, second) = (weights(cache()), weights(cache()))
    _ = try pack(first, "a", 1)
    _ = try pack(second, "b", 2)
    first.save()
    second.save()
    let third = weights(cache())
    _ = try pack(third, "c", 3)
    third.save()
    // What this process packed is read from the file from now on.
    #expect(try pack(third, "a", 9) == [UInt8](repeating: 1, count: 5000))
    let last = weights(cache())
    for (key, byte) in [("a", 1), ("b", 2), ("c", 3)] as [(String, UInt8)] {
      #expect(try pack(last, key, 99) == [UInt8](repeating: byte, count: 5000))
    }
    #expect(last.packedCount == 0)
  }

  @Test func abandonedTemporariesAreSwept() throws {
    try FileManager.default.createDirectory(atPath: "\(folder)/models/m", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let old = timespec(tv_sec: time(nil) - 7200, tv_nsec: 0)
    for name in ["models/m/.writing-old", ".writing-old", ".writing-new", "models/m/old.pack"] {
      try Data([1]).write(to: URL(filePath: "\(folder)/\(name)"))
      if name.hasSuffix("new") { continue }
      #expect(utimensat(AT_FDCWD, "\(folder)/\(name)", [old, old], 0) == 0)
    }
    let directory = CacheDirectory(folder)
    #expect([UInt8(1)].withUnsafeBytes { directory.write("blobs/b", [$0]) })
    #expect(try files("").sorted() == [".writing-new", "blobs/b", "models/m/old.pack"])
  }

  @Test func aComplaintGivesTheReasonOfTheCallThatFailed() throws {
    try FileManager.default.createDirectory(atPath: "\(folder)/taken", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let directory = CacheDirectory(folder)
    errno = EDOM
    #expect([UInt8(1)].withUnsafeBytes { directory.write("taken", [$0]) } == false)
    let complaint = try #require(directory.complaint)
    #expect(complaint.contains(String(cString: strerror(EISDIR))), "\(complaint)")
    #expect(try files("").isEmpty)
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
