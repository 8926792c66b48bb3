import FoundationEssentials
import Glibc
import KelvinDevices
import KelvinGraph
import KelvinRuntime
import Synchronization
import TestSupport
import Testing

/// The file by which a cache recognizes its entries.
@Suite struct CacheSecretTests {
  private let folder = TemporaryFolder()
  private var cache: String { "\(folder.path)/cache" }
  private var secret: String { "\(cache)/secret" }

  private func keep(_ name: String, _ directory: CacheDirectory) {
    Array(name.utf8).withUnsafeBytes {
      CompiledCache(directory, kelvinVersion: "1").blobs(CacheFixture.device).store(name, $0)
    }
  }

  private func isKept(_ name: String, _ directory: CacheDirectory) -> Bool {
    let blob = CompiledCache(directory, kelvinVersion: "1").blobs(CacheFixture.device).blob(name)
    return blob.map { $0.withUnsafeBytes { Array($0) } == Array(name.utf8) } ?? false
  }

  /// A file system that shows every file as one that all may read, whatever mode it is given.
  private var withoutModes: FileSystemCalls {
    var calls = FileSystemCalls()
    calls.examine = { file, status in
      let result = fstat(file, &status)
      status.st_mode = status.st_mode & S_IFMT | 0o755
      return result
    }
    return calls
  }

  /// A file system on which nothing can be locked.
  private func withoutLocks(_ change: (inout FileSystemCalls) -> Void = { _ in }) -> FileSystemCalls {
    var calls = FileSystemCalls()
    let open = calls.open
    calls.open = { folder, name, flags in
      guard name.hasSuffix(".lock") else { return open(folder, name, flags) }
      errno = ENOLCK
      return -1
    }
    change(&calls)
    return calls
  }

  @Test func fileSystemWithoutModesDisablesTheCache() throws {
    for _ in 0..<2 {
      let directory = CacheDirectory(cache, calls: withoutModes)
      keep("a", directory)
      let weights = CompiledCache(directory, kelvinVersion: "1").weights(
        ContentKey(["model"]), function: "f", device: CacheFixture.device)
      #expect(try CacheFixture.pack(weights, "w", 3).allSatisfy { $0 == 3 })
      weights.save()
      #expect(try CacheFixture.pack(weights, "w", 4).allSatisfy { $0 == 3 })
      let remark = try #require(directory.remarks.first)
      #expect(directory.remarks.count == 1 && remark.contains("'\(secret)'"), "\(directory.remarks)")
      #expect(remark.contains("shows it to others, with mode 0755") && remark.contains("--cache-dir"), "\(remark)")
      #expect(TemporaryFolder.files(cache).allSatisfy { $0.hasSuffix(".lock") }, "\(TemporaryFolder.files(cache))")
    }
  }

  @Test func foreignSecretIsKeptOnFileSystemsWithoutModes() throws {
    keep("a", CacheDirectory(cache))
    let before = TemporaryFolder.read(secret)
    let directory = CacheDirectory(cache, calls: withoutModes)
    #expect(!isKept("a", directory))
    keep("b", directory)
    #expect(TemporaryFolder.read(secret) == before && isKept("a", CacheDirectory(cache)))
  }

  /// Two processes that find no secret and cannot lock.
  @Test func twoProcessesAgreeOnOneSecret() throws {
    let second = CacheDirectory(cache, calls: withoutLocks())
    let links = Mutex(0)
    let first = CacheDirectory(
      cache,
      calls: withoutLocks { calls in
        let link = calls.link
        calls.link = { folder, name, target in
          // The other process is faster by this much.
          if links.withLock({ count in
            count += 1
            return count
          }) == 1 {
            keep("second", second)
          }
          return link(folder, name, target)
        }
      })
    keep("first", first)
    #expect(links.withLock(\.self) == 1)
    let later = CacheDirectory(cache)
    #expect(isKept("first", later) && isKept("second", later) && later.remarks.isEmpty, "\(later.remarks)")
    #expect(!TemporaryFolder.files(cache).contains { $0.contains(".writing-") })
  }

  @Test func manyTasksAgreeOnOneSecret() async throws {
    for round in 0..<20 {
      let cache = "\(folder.path)/\(round)"
      let calls = withoutLocks()
      await withTaskGroup(of: Void.self) { group in
        for name in 0..<6 { group.addTask { keep("\(name)", CacheDirectory(cache, calls: calls)) } }
      }
      let later = CacheDirectory(cache)
      for name in 0..<6 { #expect(isKept("\(name)", later), "round \(round), \(name)") }
      #expect(later.remarks.isEmpty, "round \(round)")
    }
  }

  @Test func secretIsNotReplacedWithoutALock() throws {
    keep("a", CacheDirectory(cache))
    let before = TemporaryFolder.read(secret)
    #expect(chmod(secret, 0o640) == 0)
    let crowd = CacheDirectory(cache, calls: withoutLocks())
    keep("b", crowd)
    #expect(TemporaryFolder.read(secret) == before && crowd.remarks.count == 1, "\(crowd.remarks)")
    let alone = CacheDirectory(cache)
    keep("b", alone)
    #expect(TemporaryFolder.read(secret) != before && isKept("b", CacheDirectory(cache)))
  }

  /// The folder, or all that is in it, goes while a process has its secret; another process is first to fill it again.
  @Test(arguments: [true, false])
  func secretIsReadAgainForANewFolder(isEmptied: Bool) throws {
    let directory = CacheDirectory(cache)
    let compiled = CompiledCache(directory, kelvinVersion: "1")
    let weights = compiled.weights(ContentKey(["model"]), function: "f", device: CacheFixture.device)
    try CacheFixture.pack(weights, "w", 3)
    weights.save()
    try CacheFixture.pack(weights, "v", 5)
    for entry in isEmptied ? try #require(TemporaryFolder.entries(cache)).map({ "\(cache)/\($0)" }) : [cache] {
      try FileManager.default.removeItem(atPath: entry)
    }
    keep("theirs", CacheDirectory(cache))
    weights.save()
    keep("ours", directory)
    let later = CacheDirectory(cache)
    #expect(isKept("theirs", later) && isKept("ours", later))
    let read = CompiledCache(later, kelvinVersion: "1").weights(
      ContentKey(["model"]), function: "f", device: CacheFixture.device)
    #expect(try CacheFixture.pack(read, "v", 9).allSatisfy { $0 == 5 } && read.packedCount == 0)
    #expect(later.remarks.isEmpty && directory.remarks.isEmpty, "\(later.remarks + directory.remarks)")
  }
}
