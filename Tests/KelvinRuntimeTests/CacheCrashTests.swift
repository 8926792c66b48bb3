import FoundationEssentials
import Glibc
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinRuntime
import TestSupport
import Testing

/// The cache on a disk that fails at any of its calls: answers stay right, and no later run believes a torn file.
@Suite struct CacheCrashTests {
  private static let device = CacheFixture.device
  private static let profile = MeasuredProfile(
    kelvinVersion: "1", machine: MachineDescription(SystemFiles()), devices: [device.identity],
    startup: ["m": ["cpu": StartupCost(load: 1, compile: 1, firstRun: 1)]])

  /// A new cache, and a model's file beside it.
  private struct Place {
    let folder = "\(FileManager.default.temporaryDirectory.path)/kelvin-crash-\(UInt64.random(in: 0 ..< .max))"
    var cache: String { "\(folder)/cache" }
    var model: String { "\(folder)/model" }

    init() throws {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Data([1, 2, 3]).write(to: URL(filePath: model))
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }
  }

  /// The cache operations of one process: it looks for every entry, makes the missing ones and stores them.
  ///
  /// - Returns: the cache, and the number of entries found.
  private func live(_ place: Place, _ disk: FailingDisk, _ note: Comment) throws -> (CacheDirectory, found: Int) {
    let directory = CacheDirectory(place.cache, patience: LockTimeout { _ in }, calls: disk.calls)
    let compiled = CompiledCache(directory, kelvinVersion: "1")
    let key = try ContentKey(contentsOf: [Bytes(mapping: place.model)], memo: directory, now: time(nil) + 60)
    #expect(try key == ContentKey(contentsOf: [Bytes(mapping: place.model)], memo: nil), note)
    var found = 0
    let weights = compiled.weights(key, function: "main", device: Self.device)
    for (name, byte) in [("a", 1), ("b", 2)] as [(String, UInt8)] {
      #expect(try CacheFixture.pack(weights, name, byte) == [UInt8](repeating: byte, count: 5000), note)
    }
    found += 2 - weights.packedCount
    weights.didPackAll()
    weights.save()
    #expect(try CacheFixture.pack(weights, "a", 9) == [UInt8](repeating: 1, count: 5000), note)
    let blobs = compiled.blobs(Self.device)
    let contents = [UInt8](repeating: 7, count: 999)
    if let blob = blobs.blob("program") {
      #expect(blob.withUnsafeBytes { Array($0) } == contents, note)
      found += 1
    } else {
      contents.withUnsafeBytes { blobs.store("program", $0) }
    }
    let store = ProfileStore(directory, kelvinVersion: "1")
    let kept = store.load(devices: [Self.device])
    #expect(kept.remarks.isEmpty, note)
    if let kept = kept.profile {
      #expect(kept.startup == Self.profile.startup, note)
      found += 1
    } else {
      #expect(try store.save(Self.profile).isEmpty, note)
    }
    return (directory, found)
  }

  /// The calls that a first process makes.
  private func countOfCalls() throws -> Int {
    let place = try Place()
    defer { place.remove() }
    let disk = FailingDisk(.stops, at: 0)
    #expect(try live(place, disk, "first").found == 0)
    return disk.count
  }

  @Test(
    arguments: Tier.some(
      2,
      of: [
        .stops, .refuses(ENOSPC, forGood: true), .refuses(ENOSPC, forGood: false), .refuses(EDQUOT, forGood: true),
        .refuses(EROFS, forGood: true), .refuses(EIO, forGood: false),
      ] as [FailingDisk.Failure]))
  func failedWritesAreNeverTrusted(failure: FailingDisk.Failure) throws {
    let count = try countOfCalls()
    #expect(count > 40)
    var complaints = 0
    for number in 1...count {
      let note = Comment("\(failure) at call \(number) of \(count)")
      let place = try Place()
      defer { place.remove() }
      let (first, _) = try live(place, FailingDisk(failure, at: number), note)
      // One remark at most, and it gives the system's reason.
      #expect(first.remarks.count <= 1, note)
      if case .refuses(let code, _) = failure, let remark = first.remarks.first {
        #expect(remark.hasPrefix("nothing is kept for the next run: "), note)
        #expect(remark.contains(String(cString: strerror(code))), "\(note): \(remark)")
        complaints += 1
      }
      // The next process is told of nothing, since nothing that is there is wrong; and leaves all to the one after it.
      let (second, _) = try live(place, FailingDisk(.stops, at: 0), note)
      #expect(second.remarks.isEmpty, "\(note): \(second.remarks)")
      let (third, found) = try live(place, FailingDisk(.stops, at: 0), note)
      #expect(third.remarks.isEmpty && found == 4, note)
    }
    // Not reported are a folder that cannot be synced, and a file that cannot be removed or closed twice.
    if case .refuses(_, forGood: true) = failure { #expect(complaints > count * 3 / 4) }
  }

  /// An update that is interrupted leaves what was there before, or what was to be there.
  @Test func interruptedUpdateKeepsTheOldOrNewFile() throws {
    var number = 0
    var isOver = false
    while !isOver {
      number += 1
      let note = Comment("stopped at call \(number) of an update")
      let place = try Place()
      defer { place.remove() }
      _ = try live(place, FailingDisk(.stops, at: 0), note)
      let disk = FailingDisk(.stops, at: number)
      let key = try ContentKey(contentsOf: [Bytes(mapping: place.model)], memo: nil)
      let cache = CompiledCache(CacheDirectory(place.cache, calls: disk.calls), kelvinVersion: "1")
      let weights = cache.weights(key, function: "main", device: Self.device)
      try CacheFixture.pack(weights, "c", 3)
      weights.didPackAll()
      weights.save()
      isOver = disk.count < number
      let (next, found) = try live(place, FailingDisk(.stops, at: 0), note)
      #expect(next.remarks.isEmpty && found == 4, note)
    }
    #expect(number > 6)
  }
}
