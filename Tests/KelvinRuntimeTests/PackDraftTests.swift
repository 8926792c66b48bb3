import Dispatch
import FoundationEssentials
import Glibc
import KelvinDevices
import KelvinRuntime
import Synchronization
import Testing

/// Packs that are written while a model is loaded, before other processes can find them.
@Suite struct PackDraftTests {
  private let folder = "\(FileManager.default.temporaryDirectory.path)/kelvin-draft-\(UInt64.random(in: 0 ..< .max))"

  private func weights(_ calls: FileSystemCalls = FileSystemCalls()) -> CachedWeights {
    CompiledCache(CacheDirectory(folder, calls: calls), kelvinVersion: "1")
      .weights(ContentKey(["model"]), function: "main", device: CacheFixture.device)
  }

  private var remains: [String] {
    get throws { try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.contains(".writing-") } }
  }

  /// Counts the bytes that are written, and the files that are begun.
  private final class Counter: Sendable {
    private let state = Mutex((bytes: 0, files: 0))
    /// Called for each file that was removed.
    let removed = DispatchSemaphore(value: 0)
    /// Called for each file that was written.
    let closed = DispatchSemaphore(value: 0)
    var bytes: Int { state.withLock { $0.bytes } }
    var files: Int { state.withLock { $0.files } }

    /// - Parameter refusals: files that cannot be begun before one can.
    func calls(refusals: Int = 0) -> FileSystemCalls {
      let real = FileSystemCalls()
      var calls = real
      calls.open = { [self] folder, name, flags in
        guard name.hasPrefix(".writing-") else { return real.open(folder, name, flags) }
        let isRefused = state.withLock { state in
          state.files += 1
          return state.files <= refusals
        }
        if isRefused { errno = ENOSPC }
        return isRefused ? -1 : real.open(folder, name, flags)
      }
      calls.write = { [self] file, bytes in
        state.withLock { $0.bytes += bytes.count }
        return real.write(file, bytes)
      }
      calls.close = { [closed] file in
        let result = real.close(file)
        closed.signal()
        return result
      }
      calls.remove = { [removed] folder, name in
        let result = real.remove(folder, name)
        removed.signal()
        return result
      }
      return calls
    }
  }

  private func expectFound(_ byKey: [String: UInt8]) throws {
    let weights = weights()
    for (key, byte) in byKey {
      #expect(try CacheFixture.pack(weights, key, 99) == [UInt8](repeating: byte, count: 5000))
    }
    #expect(weights.packedCount == 0)
    #expect(try remains == [])
  }

  @Test func draftIsWrittenOnce() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let counter = Counter()
    let first = weights(counter.calls())
    try CacheFixture.pack(first, "a", 1)
    first.didPackAll()
    try CacheFixture.pack(first, "a", 9)
    first.save()
    // The secret and the pack: its head, and a region that is filled up to whole pages.
    #expect(counter.files == 2 && counter.bytes == 32 + 3 * 4096)
    try expectFound(["a": 1])
  }

  @Test func draftIsInvisibleBeforeItIsSaved() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let first = weights()
    try CacheFixture.pack(first, "a", 1)
    first.didPackAll()
    #expect(try CacheFixture.pack(weights(), "a", 9)[0] == 9)
    first.save()
    try expectFound(["a": 1])
    let counter = Counter()
    var second: CachedWeights? = weights(counter.calls())
    try CacheFixture.pack(#require(second), "b", 2)
    second?.didPackAll()
    second = nil
    counter.removed.wait()
    let other = weights()
    #expect(try CacheFixture.pack(other, "b", 3)[0] == 3)
    other.save()
    try expectFound(["a": 1, "b": 3])
  }

  @Test func weightsPackedAfterTheDraftAreKept() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let first = weights()
    try CacheFixture.pack(first, "a", 1)
    first.didPackAll()
    try CacheFixture.pack(first, "b", 2)
    first.save()
    try expectFound(["a": 1, "b": 2])
  }

  @Test func packSavedByAnotherMeanwhileIsKept() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (first, second) = (weights(), weights())
    try CacheFixture.pack(first, "a", 1)
    first.didPackAll()
    try CacheFixture.pack(second, "b", 2)
    second.save()
    first.save()
    try expectFound(["a": 1, "b": 2])
  }

  @Test func failedDraftIsWrittenOnSave() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let counter = Counter()
    let first = weights(counter.calls(refusals: 1))
    try CacheFixture.pack(first, "a", 1)
    first.didPackAll()
    first.save()
    try expectFound(["a": 1])
  }

  @Test func emptiedFolderGetsACompletePack() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let first = weights()
    try CacheFixture.pack(first, "a", 1)
    first.save()
    let counter = Counter()
    let second = weights(counter.calls())
    try CacheFixture.pack(second, "b", 2)
    second.didPackAll()
    counter.closed.wait()
    try FileManager.default.removeItem(atPath: folder)
    second.save()
    try expectFound(["b": 2])
  }
}
