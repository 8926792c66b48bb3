import FoundationEssentials
import Glibc
import KelvinRuntime
import Synchronization
import Testing

/// A lock that another process holds and never releases.
@Suite struct CacheLockTests {
  private let folder = "\(FileManager.default.temporaryDirectory.path)/kelvin-lock-\(UInt64.random(in: 0 ..< .max))"

  /// Takes a lock of the cache as another process would.
  private func hold(_ name: String) throws -> Int32 {
    CacheDirectory(folder).locking(name) {}
    let file = open("\(folder)/\(name).lock", O_RDWR)
    try #require(file >= 0 && flock(file, LOCK_EX) == 0)
    return file
  }

  @Test func lockTimeoutIsReportedOnce() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = try hold("pack")
    defer { close(file) }
    let waited = Mutex(Duration.zero)
    let directory = CacheDirectory(
      folder, patience: LockTimeout(limit: .seconds(10)) { pause in waited.withLock { $0 += pause } })
    var ran = false
    #expect(directory.locking("pack") { ran = true } == nil && !ran)
    #expect(waited.withLock { $0 >= .seconds(10) && $0 < .seconds(11) })
    let remark = try #require(directory.remarks.first)
    #expect(directory.remarks.count == 1)
    #expect(remark.contains("process \(getpid()) holds '\(folder)/pack.lock'") && remark.contains("10"), "\(remark)")
    // A run waits once at most; free entries are still used.
    #expect(directory.locking("pack") { ran = true } == nil && directory.locking("other") { 7 } == 7)
    #expect(waited.withLock { $0 < .seconds(11) } && directory.remarks.count == 1)
  }

  @Test func releasedLockIsAcquiredByTheWaiter() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = try hold("pack")
    let pauses = Mutex(0)
    let directory = CacheDirectory(
      folder,
      patience: LockTimeout { _ in
        let count = pauses.withLock {
          $0 += 1
          return $0
        }
        if count == 5 { close(file) }
      })
    #expect(directory.locking("pack") { 7 } == 7 && pauses.withLock { $0 } == 5 && directory.remarks.isEmpty)
  }

  @Test func lockedCacheDoesNotFailThePrediction() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let key = ContentKey(["model"])
    let info = CacheFixture.device
    let name = "models/\(key)"
    let first = CompiledCache(CacheDirectory(folder), kelvinVersion: "1").weights(key, function: "f", device: info)
    try CacheFixture.pack(first, "a", 1)
    first.save()
    let pack = try #require(
      try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(name)").first { $0.hasSuffix(".pack") })
    let file = try hold("\(name)/\(pack)")
    defer { close(file) }
    let directory = CacheDirectory(folder, patience: LockTimeout { _ in })
    let second = CompiledCache(directory, kelvinVersion: "1").weights(key, function: "f", device: info)
    #expect(try CacheFixture.pack(second, "a", 9).allSatisfy { $0 == 1 })
    #expect(try CacheFixture.pack(second, "b", 2).allSatisfy { $0 == 2 })
    second.save()
    #expect(directory.remarks.count == 1 && directory.remarks[0].contains("did not release it"), "\(directory.remarks)")
    #expect(try CacheFixture.pack(second, "b", 9).allSatisfy { $0 == 2 })
  }
}
