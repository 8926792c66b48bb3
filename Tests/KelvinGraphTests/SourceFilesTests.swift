import Glibc
import KelvinBasics
import KelvinGraph
import Synchronization
import TestSupport
import Testing

/// Files that are touched while a model reads them: what counts is what they hold.
@Suite struct SourceFilesTests {
  private static let size = 1 << 20

  /// A mapped file of sevens, known by its contents.
  private final class Fixture {
    let folder = TemporaryFolder()
    let path: String
    let bytes: Bytes
    let sources = SourceFiles()

    init() throws {
      path = folder.write([UInt8](repeating: 7, count: SourceFilesTests.size), "f")
      // A time long ago, so that no write of the test has the same time stamp.
      let old = timespec(tv_sec: 1000, tv_nsec: 0)
      #expect(utimensat(AT_FDCWD, path, [old, old], 0) == 0)
      bytes = try Bytes(mapping: path)
      sources.hold(bytes)
      bytes.recognize { whole in whole.withUnsafeBytes { $0.allSatisfy { $0 == 7 } } }
    }

    /// Writes a byte in place, and puts the modification time back.
    func put(_ byte: UInt8) {
      let file = open(path, O_WRONLY)
      defer { close(file) }
      #expect(pwrite(file, [byte], 1, 12345) == 1)
      let old = timespec(tv_sec: 1000, tv_nsec: 0)
      #expect(futimens(file, [old, old]) == 0)
    }

    func touch() { #expect(utimensat(AT_FDCWD, path, nil, 0) == 0) }

    var byte: UInt8 { bytes.withUnsafeBytes { $0[12345] } }

    func vouching<Result>(repeats: Bool = true, _ body: () throws -> Result) throws -> Result {
      try sources.vouching(repeats: repeats, body)
    }
  }

  /// Packing more weights replaces the file while a prediction reads the existing ones.
  @Test func packMayBeReplacedWhileItIsRead() throws {
    let fixture = try Fixture()
    let packs = SourceFiles()
    let other = fixture.folder.write([1], "other")
    packs.hold(pack: fixture.bytes)
    #expect(try packs.vouching(repeats: false) { rename(other, fixture.path) } == 0)
    // A file that was touched before this model read any of it.
    let later = SourceFiles()
    try later.vouching(repeats: false) { later.hold(pack: fixture.bytes) }
    // Its bytes are still verified.
    let written = try Fixture()
    let source = SourceFiles()
    source.hold(pack: written.bytes)
    #expect(throws: FileError.self) {
      try source.vouching(repeats: false) {
        written.put(8)
        unlink(written.path)
      }
    }
    let touched = try Fixture()
    let held = SourceFiles()
    held.hold(pack: touched.bytes)
    #expect(throws: FileError.self) { try held.vouching(repeats: false) { touched.touch() } }
  }

  /// Specializations come and go, each with its own pack.
  @Test func unusedPackIsReleased() throws {
    let sources = SourceFiles()
    var packs: [Bytes.Unowned] = []
    for _ in 0..<3 {
      let fixture = try Fixture()
      sources.hold(pack: fixture.bytes)
      packs.append(Bytes.Unowned(fixture.bytes))
      fixture.touch()
      try sources.vouching { #expect(packs.last?.bytes != nil) }
    }
    #expect(packs.allSatisfy { $0.bytes == nil })
    try sources.vouching(repeats: false) {}
  }

  /// A reader may release the file before it is verified.
  @Test func packIsVerifiedAfterItsLastRead() throws {
    for isHeldMeanwhile in [false, true] {
      let sources = SourceFiles()
      var fixture: Fixture? = try Fixture()
      let pack = Bytes.Unowned(try #require(fixture).bytes)
      if !isHeldMeanwhile { sources.hold(pack: try #require(fixture).bytes) }
      #expect(throws: FileError.self) {
        try sources.vouching(repeats: false) {
          if isHeldMeanwhile, let fixture { sources.hold(pack: fixture.bytes) }
          fixture?.put(8)
          fixture = nil
          #expect(pack.bytes != nil)
        }
      }
      #expect(pack.bytes == nil)
      try sources.vouching(repeats: false) {}
    }
  }

  @Test func touchIsNotAChange() throws {
    let fixture = try Fixture()
    let ways: [(String, () -> Int32)] = [
      ("touch", { utimensat(AT_FDCWD, fixture.path, nil, 0) }),
      ("chmod", { chmod(fixture.path, 0o600) }),
      ("link", { link(fixture.path, fixture.path + ".2") }),
      ("rename", { rename(fixture.path + ".2", fixture.path) }),
      ("unlink", { unlink(fixture.path) }),
    ]
    var touches = 0
    for (name, touch) in ways {
      #expect(touch() == 0, "\(name)")
      var runs = 0
      let byte = try fixture.vouching {
        runs += 1
        return fixture.byte
      }
      #expect(byte == 7, "\(name)")
      // Read before, so that nothing is done twice.
      #expect(runs == 1, "\(name)")
      let now = try fixture.bytes.touches()
      #expect(now >= touches && now > 0, "\(name)")
      touches = now
      #expect(try fixture.bytes.touches() == touches, "\(name): looked at once")
    }
  }

  @Test func writtenBytesAreAChangeUntilRestored() throws {
    let fixture = try Fixture()
    for _ in 0..<3 {
      fixture.put(8)
      for _ in 0..<2 {
        let error = #expect(throws: FileError.self) { try fixture.vouching { Issue.record("it was read") } }
        #expect(error?.reason.contains("it was written to after it was opened") == true)
      }
      fixture.put(7)
      #expect(try fixture.vouching { fixture.byte } == 7)
    }
  }

  @Test func resultFromTemporaryBytesIsDiscarded() throws {
    let fixture = try Fixture()
    var seen: [UInt8] = []
    let answer = try fixture.vouching {
      let isFirst = seen.isEmpty
      if isFirst { fixture.put(8) }
      let byte = fixture.byte
      seen.append(byte)
      if isFirst { fixture.put(7) }
      return byte
    }
    #expect(seen == [8, 7] && answer == 7, "\(seen)")
  }

  @Test func touchDuringUseRepeatsTheWork() throws {
    let fixture = try Fixture()
    var runs = 0
    var discarded = 0
    struct Wrong: Error {}
    func discard() { discarded += 1 }
    let answer = try fixture.sources.vouching(discarding: discard) {
      runs += 1
      if runs < 3 { fixture.touch() }
      if runs == 2 { throw Wrong() }
      return runs
    }
    #expect(answer == 3 && runs == 3 && discarded == 2)
    #expect(throws: Wrong.self) { try fixture.vouching { throw Wrong() } }
  }

  @Test func repetitionsAreLimited() throws {
    let fixture = try Fixture()
    var runs = 0
    func run() {
      runs += 1
      fixture.touch()
    }
    let error = #expect(throws: FileError.self) { try fixture.vouching(run) }
    #expect(runs == 4 && error?.reason.contains("was written to while it was used") == true, "\(runs)")
    runs = 0
    #expect(throws: FileError.self) { try fixture.vouching(repeats: false, run) }
    #expect(runs == 1)
  }

  @Test func touchCheckedByAnotherCallerRepeatsTheWork() throws {
    let fixture = try Fixture()
    var runs = 0
    try fixture.vouching {
      runs += 1
      guard runs == 1 else { return }
      fixture.touch()
      // Another prediction begins, and finds that all is well.
      try fixture.vouching {}
    }
    #expect(runs == 2)
  }

  @Test func fileWithoutAKnownStateCountsAsChanged() throws {
    let folder = TemporaryFolder()
    let path = folder.write([UInt8](repeating: 7, count: Self.size), "f")
    let sources = SourceFiles()
    sources.hold(try Bytes(mapping: path))
    #expect(utimensat(AT_FDCWD, path, [timespec(), timespec()], 0) == 0)
    #expect(throws: FileError.self) { try sources.vouching {} }
  }

  @Test func manyThreadsCheckOnce() async throws {
    let fixture = try Fixture()
    let looks = Mutex(0)
    fixture.bytes.recognize { _ in
      looks.withLock { $0 += 1 }
      return true
    }
    fixture.touch()
    let bytes = fixture.bytes
    await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<8 { group.addTask { try? bytes.touches() } }
      for await count in group { #expect(count == 1) }
    }
    #expect(looks.withLock(\.self) == 1)
  }

  @Test func replacedFileIsDetected() throws {
    let folder = TemporaryFolder()
    let path = folder.write([1, 2, 3], "w")
    let sources = SourceFiles()
    #expect(try sources.contents(first: [path]).map(\.count) == [3])
    sources.hold(try Bytes(mapping: path))
    try sources.vouching {}
    #expect(rename(folder.write([4, 5, 6], "new"), path) == 0)
    sources.hold(try Bytes(mapping: path))
    let error = #expect(throws: FileError.self) { try sources.vouching {} }
    #expect(error?.reason.contains("it was replaced while it was read") == true)
  }

  @Test func contentsAreReadOnceAndInOrder() throws {
    let folder = TemporaryFolder()
    let paths = (0..<4).map { folder.write([UInt8](repeating: 0, count: $0), "\($0)") }
    let sources = SourceFiles()
    for index in [3, 1, 3] { sources.hold(try Bytes(mapping: paths[index])) }
    sources.hold(Bytes([UInt8(9)]))
    #expect(try sources.contents(first: [paths[2], paths[3]]).map(\.count) == [2, 3, 1])
    #expect(throws: FileError.self) { try sources.contents(first: [folder.path + "/absent"]) }
  }
}
