import FoundationEssentials
import Glibc
import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinRuntime
import Testing

@Suite struct CacheTests {
  private let folder = "\(FileManager.default.temporaryDirectory.path)/kelvin-cache-\(UInt64.random(in: 0 ..< .max))"

  private func cache(_ version: String = "1") -> CompiledCache {
    CompiledCache(CacheDirectory(folder), kelvinVersion: version)
  }

  private func weights(_ cache: CompiledCache) -> CachedWeights {
    cache.weights(ContentKey(["model"]), function: "main", device: CacheFixture.device)
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

  @discardableResult
  private func pack(_ weights: CachedWeights, _ key: String, _ byte: UInt8, count: Int = 5000) throws -> [UInt8] {
    try CacheFixture.pack(weights, key, byte, count: count)
  }

  @Test func packedWeightsAreReused() throws {
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

  /// Expanded layouts of a compressed weight are packed again; the codes themselves are kept.
  @Test func onlyCodesOfCompressedWeightsAreStored() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let packed = Weight(try PackedIntegers(Bytes([UInt8](repeating: 0xE4, count: 32)), bits: 4, shape: [8, 8]))
    let scale = Weight(Tensor([Float](repeating: 1, count: 8), [8, 1]))
    var graph = Graph()
    let weight = try Weight(affine: packed, scale: scale)
    let id = graph.addValue(Value(name: "w", type: weight.type, weight: weight))
    let name = graph.namingWeights(for: [])[id].name
    let (codes, expanded) = ("\(name)/\(PackedLayout.codes)-k16", "\(name)/gemm-f32-k16")
    let first = weights(cache())
    try pack(first, codes, 1)
    try pack(first, expanded, 2)
    #expect(first.footprint == PackedFootprint(byteCount: 10_000, expandedByteCount: 5000))
    first.save()
    let second = weights(cache())
    #expect(try pack(second, codes, 9) == [UInt8](repeating: 1, count: 5000))
    #expect(try pack(second, expanded, 9) == [UInt8](repeating: 9, count: 5000))
  }

  /// Devices that round a weight's size up read it where it is.
  @Test func packedWeightsHaveSpareRoom() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let stores: [any PackedWeights] = [weights(cache()), MemoryPackedWeights()]
    for (weights, size) in stores.flatMap({ store in [1, 4096, 5000, 1 << 20].map { (store, $0) } }) {
      let packed = try weights.packed("\(size)", byteCount: size) { raw in
        #expect(raw.count == size)
        raw[size - 1] = 1
      }
      let wide = try #require(packed.widened(to: size + packedRoom), "\(size) bytes")
      #expect(wide.withUnsafeBytes { $0[size - 1] == 1 && $0.count == size + packedRoom })
      #expect(packed.widened(to: size + packedRoom + 1) == nil)
    }
  }

  @Test func cacheOfAnotherVersionIsIgnored() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let first = weights(cache("1"))
    _ = try pack(first, "a", 1)
    first.save()
    #expect(try pack(weights(cache("2")), "a", 9) == [UInt8](repeating: 9, count: 5000))
  }

  /// The only file of the cache whose name ends so.
  private func file(_ ending: String) throws -> URL {
    let names = try files("").filter { $0.hasSuffix(ending) }
    try #require(names.count == 1, "\(names)")
    return URL(filePath: "\(folder)/\(names[0])")
  }

  @Test func aDamagedFileIsNeverTrusted() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let first = weights(cache())
    try pack(first, "a", 1)
    try pack(first, "b", 2)
    first.save()
    let path = try file(".pack")
    let whole = try Data(contentsOf: path)
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededGenerator(seed: seed)
    for attempt in 0..<400 {
      var damaged = whole
      switch attempt % 4 {
      case 0: damaged = damaged.prefix(Int.random(in: 0..<whole.count - 4096, using: &random))
      case 1: damaged[Int.random(in: 0..<130, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2: damaged[4096 + Int.random(in: 0..<5000, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      default: damaged[Int.random(in: damaged.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
      }
      try damaged.write(to: path)
      let cache = self.cache()
      let read = weights(cache)
      let (a, b) = (try pack(read, "a", 7), try pack(read, "b", 8))
      let isKnown = !cache.directory.remarks.isEmpty
      let place = "attempt \(attempt), seed \(seed)"
      #expect(a == [UInt8](repeating: a[0], count: 5000) && [1, 7].contains(a[0]), "\(place)")
      #expect(b == [UInt8](repeating: b[0], count: 5000) && [2, 8].contains(b[0]), "\(place)")
      #expect((a[0] == 7 || b[0] == 8) == isKnown, "\(place): \(cache.directory.remarks)")
      if attempt % 4 < 2 { #expect(a[0] == 7 && b[0] == 8, "\(place)") }
      if attempt % 4 == 2 { #expect(a[0] == 7 && b[0] == 2, "\(place)") }
    }
  }

  @Test func damagedRegionIsRepackedAndReportedOnce() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let first = weights(cache())
    for (key, byte) in [("a", 1), ("b", 2), ("c", 3)] as [(String, UInt8)] { try pack(first, key, byte) }
    first.save()
    let path = try file(".pack")
    var data = try Data(contentsOf: path)
    data[4096 + 17] ^= 4
    data[4096 * 3 + 17] ^= 4
    try data.write(to: path)
    let cache = cache()
    let second = weights(cache)
    #expect(try pack(second, "a", 1) == [UInt8](repeating: 1, count: 5000) && second.packedCount == 1)
    second.save()
    #expect(cache.directory.remarks.count == 1)
    #expect(
      cache.directory.remarks.first?.hasSuffix(".pack' holds damaged packed weights; they are packed again")
        == true, "\(cache.directory.remarks)")
    // An entry that was not requested was copied with its old hash, and is still recognized as damaged.
    let last = self.cache()
    let third = weights(last)
    #expect(try pack(third, "a", 9)[0] == 1 && pack(third, "c", 9)[0] == 3 && last.directory.remarks.isEmpty)
    #expect(try pack(third, "b", 2) == [UInt8](repeating: 2, count: 5000) && third.packedCount == 1)
    #expect(last.directory.remarks.count == 1)
  }

  /// A file that is whole and of this cache, but is not the one that the name means, or was made with another secret.
  @Test func filesAreValidOnlyUnderTheirNameAndSecret() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func keep(_ model: String, _ byte: UInt8) throws -> CompiledCache {
      let cache = self.cache()
      let weights = cache.weights(ContentKey([model]), function: "main", device: CacheFixture.device)
      try pack(weights, "a", byte)
      weights.save()
      Array(model.utf8).withUnsafeBytes { cache.blobs(CacheFixture.device).store(model, $0) }
      return cache
    }
    _ = try keep("good", 1)
    let good = try files("").filter { $0.hasSuffix(".pack") || $0.hasPrefix("blobs/") }
    _ = try keep("evil", 2)
    let evil = try files("").filter { ($0.hasSuffix(".pack") || $0.hasPrefix("blobs/")) && !good.contains($0) }
    #expect(good.count == 2 && evil.count == 2)
    for (target, source) in zip(good.sorted(), evil.sorted()) {
      try Data(contentsOf: URL(filePath: "\(folder)/\(source)")).write(to: URL(filePath: "\(folder)/\(target)"))
    }
    let cache = cache()
    #expect(cache.blobs(CacheFixture.device).blob("good") == nil)
    #expect(try keep("good", 1).directory.remarks.count == 1)
    // Another secret invalidates all entries, which are then created again.
    for secret in [Data(count: 32), Data(count: 31), Data()] {
      try secret.write(to: URL(filePath: "\(folder)/secret"))
      #expect(chmod("\(folder)/secret", 0o600) == 0)
      #expect(self.cache().blobs(CacheFixture.device).blob("evil") == nil)
      let weights = self.cache().weights(ContentKey(["good"]), function: "main", device: CacheFixture.device)
      #expect(try pack(weights, "a", 5)[0] == 5)
      #expect(try keep("evil", 2).blobs(CacheFixture.device).blob("evil")?.count == 4)
    }
    // A secret that others could read is not used again.
    let before = try Data(contentsOf: URL(filePath: "\(folder)/secret"))
    #expect(chmod("\(folder)/secret", 0o640) == 0)
    #expect(self.cache().blobs(CacheFixture.device).blob("evil") == nil)
    _ = try keep("evil", 2)
    #expect(try Data(contentsOf: URL(filePath: "\(folder)/secret")) != before)
  }

  /// HMAC-SHA-256 against the examples of RFC 4231.
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0B, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
  ])
  func authenticationCodesMatchTheStandard(key: [UInt8], text: String, code: String) {
    for cut in 0...text.utf8.count {
      let found = Array(text.utf8).withUnsafeBytes { whole in
        CacheSecret.code(
          [whole[..<cut], whole[cut...]].map { UnsafeRawBufferPointer(rebasing: $0) }, key: key)
      }
      #expect(Digest.text(of: found) == code)
    }
  }

  @Test func blobsAreAuthenticated() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let blobs = cache().blobs(CacheFixture.device)
    let contents: [UInt8] = [1, 2, 3]
    contents.withUnsafeBytes { blobs.store("pipelines", $0) }
    #expect(cache().blobs(CacheFixture.device).blob("pipelines")?.withUnsafeBytes { Array($0) } == contents)
    #expect(cache().blobs(CacheFixture.device).blob("other") == nil)
    let name = try #require(
      try FileManager.default.subpathsOfDirectory(atPath: folder).first {
        $0.hasPrefix("blobs/") && $0.split(separator: "/").count == 3
      })
    var data = try Data(contentsOf: URL(filePath: "\(folder)/\(name)"))
    data[data.count - 1] ^= 1
    try data.write(to: URL(filePath: "\(folder)/\(name)"))
    #expect(cache().blobs(CacheFixture.device).blob("pipelines") == nil)
  }

  @Test func modelKeysFollowContentsNotNames() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (a, b) = ("\(folder)/a", "\(folder)/b")
    try Data([1, 2, 3]).write(to: URL(filePath: a))
    try Data([1, 2, 3]).write(to: URL(filePath: b))
    let key = try ContentKey(contentsOf: [Bytes(mapping: a)], memo: CacheDirectory(folder))
    #expect(try ContentKey(contentsOf: [Bytes(mapping: b)], memo: CacheDirectory(folder)) == key)
    try Data([1, 2, 4, 5]).write(to: URL(filePath: b))
    #expect(try ContentKey(contentsOf: [Bytes(mapping: b)], memo: CacheDirectory(folder)) != key)
    #expect(throws: FileError.self) {
      try ContentKey(contentsOf: [Bytes(mapping: "\(folder)/absent")], memo: CacheDirectory(folder))
    }
  }

  /// Names are SHA-256, so that nobody can create two equal ones; a large file's name consists of those of its pieces,
  /// in order.
  @Test func modelKeysCannotBeForged() throws {
    #expect(ContentKey(Bytes(Array("abc".utf8))).description == Digest("abc").description)
    #expect(ContentKey(["abc", "de"]).description == Digest("3:abc2:de").description)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func key(_ contents: Data) throws -> ContentKey {
      let file = "\(folder)/large"
      try contents.write(to: URL(filePath: file))
      return try ContentKey(contentsOf: [Bytes(mapping: file)], memo: nil)
    }
    let size = 1 << 22
    let pieces = [Data(repeating: 1, count: size), Data(repeating: 2, count: size), Data([3])]
    let whole = pieces[0] + pieces[1] + pieces[2]
    var changed = whole
    changed[size + 1] ^= 1
    let keys = try [
      whole, pieces[1] + pieces[0] + pieces[2], pieces[0] + pieces[1], pieces[0] + pieces[1] + pieces[2] + pieces[2],
      changed, Data(),
    ].map(key)
    #expect(Set(keys).count == keys.count)
    let names = pieces.map { ContentKey(Bytes(Array($0))).description }
    #expect(keys[0] == ContentKey([ContentKey(names).description]))
  }

  @Test func modelKeysAreTheSameWithAndWithoutAMemo() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = "\(folder)/model"
    try Data([1, 2, 3]).write(to: URL(filePath: file))
    let later = time(nil) + 60
    let key = try ContentKey(contentsOf: [Bytes(mapping: file)], memo: nil)
    for _ in 0..<2 {
      #expect(try ContentKey(contentsOf: [Bytes(mapping: file)], memo: CacheDirectory(folder), now: later) == key)
    }
  }

  @Test func recentlyChangedFileIsHashedAgain() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = "\(folder)/model"
    try Data([1, 2, 3]).write(to: URL(filePath: file))
    _ = try ContentKey(contentsOf: [Bytes(mapping: file)], memo: CacheDirectory(folder))
    #expect(try files("sources").isEmpty)
    _ = try ContentKey(contentsOf: [Bytes(mapping: file)], memo: CacheDirectory(folder), now: time(nil) + 60)
    #expect(try files("sources").count == 1)
  }

  @Test func damagedMemoIsIgnored() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = "\(folder)/model"
    try Data([1, 2, 3]).write(to: URL(filePath: file))
    let later = time(nil) + 60
    func key() throws -> ContentKey {
      try ContentKey(contentsOf: [Bytes(mapping: file)], memo: CacheDirectory(folder), now: later)
    }
    let right = try key()
    let memo = URL(filePath: "\(folder)/\(try #require(try files("sources").first))")
    let whole = try Data(contentsOf: memo)
    // The memo decides: an entry that this cache made of other contents under this name is trusted.
    let other = ContentKey(["other"]).description
    let secret = try Data(contentsOf: URL(filePath: "\(folder)/secret"))
    let name = "sources/\(memo.lastPathComponent)"
    let forged = Array("\(name)\0\(other)".utf8).withUnsafeBytes { CacheSecret.code([$0], key: Array(secret)) }
    try Data(forged + Array(other.utf8)).write(to: memo)
    #expect(try key() == ContentKey([other]))
    // Without the secret a memo cannot be forged: neither with its own hash nor with the seal of another file.
    try Data(Digest(other).bytes + Array(other.utf8)).write(to: memo)
    #expect(try key() == right)
    for place in whole.indices {
      var damaged = whole
      damaged[place] ^= 1
      try damaged.write(to: memo)
      #expect(try key() == right)
    }
    // The contents are changed in place and the modification time is restored; the change time reveals it.
    try whole.write(to: memo)
    var status = stat()
    #expect(stat(file, &status) == 0)
    let descriptor = open(file, O_WRONLY)
    #expect(write(descriptor, [3, 2, 1] as [UInt8], 3) == 3 && close(descriptor) == 0)
    let times = [status.st_atim, status.st_mtim]
    #expect(utimensat(AT_FDCWD, file, times, 0) == 0)
    #expect(try key() != right)
  }

  @Test func storeIsSharedWhileItIsInUse() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let cache = cache()
    let first = weights(cache)
    #expect(weights(cache) === first)
    #expect(cache.weights(ContentKey(["model"]), function: "other", device: CacheFixture.device) !== first)
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

  @Test func weightsPackedByOthersAreKept() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (first, second) = (weights(cache()), weights(cache()))
    _ = try pack(first, "a", 1)
    _ = try pack(second, "b", 2)
    first.save()
    second.save()
    let third = weights(cache())
    _ = try pack(third, "c", 3)
    third.save()
    // Entries that this process packed are read from the file from now on.
    #expect(try pack(third, "a", 9) == [UInt8](repeating: 1, count: 5000))
    let last = weights(cache())
    for (key, byte) in [("a", 1), ("b", 2), ("c", 3)] as [(String, UInt8)] {
      #expect(try pack(last, key, 99) == [UInt8](repeating: byte, count: 5000))
    }
    #expect(last.packedCount == 0)
  }

  @Test func abandonedTemporaryFilesAreRemoved() throws {
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

  @Test func complaintStatesTheSystemError() throws {
    try FileManager.default.createDirectory(atPath: "\(folder)/taken", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let directory = CacheDirectory(folder)
    errno = EDOM
    #expect([UInt8(1)].withUnsafeBytes { directory.write("taken", [$0]) } == false)
    let complaint = try #require(directory.complaint)
    #expect(complaint.contains(String(cString: strerror(EISDIR))), "\(complaint)")
    #expect(try files("").isEmpty)
  }

  @Test func unwritableCacheIsAComplaintNotAFailure() throws {
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
