import Glibc
import KelvinBasics
import KelvinGraph
import TestSupport
import Testing

/// Files that change while they are mapped.
@Suite struct MappedFileTests {
  private static let large = 1 << 21

  private static func file(_ byteCount: Int) throws -> String {
    var template = Array("/tmp/kelvin-mapped-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    defer { close(descriptor) }
    let bytes = [UInt8](repeating: 7, count: byteCount)
    guard write(descriptor, bytes, byteCount) == byteCount else { throw Untouched() }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private struct Untouched: Error {}

  private static func sum(_ bytes: Bytes) -> Int { bytes.withUnsafeBytes { $0.reduce(0) { $0 + Int($1) } } }

  @Test(arguments: [0, 1, 4096, 5000, 1 << 20, (1 << 21) - 1])
  func truncatedFileIsReadSafelyAndRejected(length: Int) async throws {
    let path = try Self.file(Self.large)
    defer { unlink(path) }
    let bytes = try Bytes(mapping: path)
    _ = try bytes.touches()
    #expect(truncate(path, length) == 0)
    #expect(Self.sum(bytes) < 7 * Self.large)
    let error = #expect(throws: FileError.self) { try bytes.touches() }
    #expect(error?.reason.contains("had \(Self.large) bytes when it was opened and now has \(length)") == true)
    // A file that has grown again still has other contents.
    #expect(truncate(path, Self.large) == 0)
    #expect(throws: FileError.self) { try bytes.touches() }
  }

  @Test func manyThreadsMayReachTheEndTogether() async throws {
    let path = try Self.file(Self.large)
    defer { unlink(path) }
    for _ in 0..<50 {
      #expect(truncate(path, Self.large) == 0)
      let bytes = try Bytes(mapping: path)
      #expect(truncate(path, 4096) == 0)
      await withTaskGroup(of: Int.self) { group in
        for _ in 0..<8 { group.addTask { Self.sum(bytes) } }
        for await sum in group { #expect(sum <= 7 * 4096) }
      }
      #expect(throws: FileError.self) { try bytes.touches() }
    }
  }

  @Test func otherFilesStayValidWhenOneIsTruncated() throws {
    let paths = try [Self.file(Self.large), Self.file(Self.large)]
    defer { for path in paths { unlink(path) } }
    let files = try paths.map { try Bytes(mapping: $0) }
    #expect(truncate(paths[0], 0) == 0)
    #expect(Self.sum(files[0]) == 0)
    #expect(Self.sum(files[1]) == 7 * Self.large)
    #expect(throws: FileError.self) { try files[0].touches() }
    #expect(try files[1].touches() == 0)
  }

  @Test func writeInPlaceIsDetected() throws {
    let path = try Self.file(Self.large)
    defer { unlink(path) }
    let old = [timespec(tv_sec: 1000, tv_nsec: 0), timespec(tv_sec: 1000, tv_nsec: 0)]
    #expect(utimensat(AT_FDCWD, path, old, 0) == 0)
    let bytes = try Bytes(mapping: path)
    let descriptor = open(path, O_WRONLY)
    defer { close(descriptor) }
    #expect(pwrite(descriptor, [UInt8(1)], 1, 12345) == 1)
    #expect(throws: FileError.self) { try bytes.touches() }
  }

  @Test func droppedPagesLeaveMemoryAndAreReadAgain() async {
    await #expect(processExitsWith: .success) {
      let process = OwnProcess()
      let size = 32 << 20
      let path = try MappedFileTests.file(size)
      defer { unlink(path) }
      let bytes = try Bytes(mapping: path)
      let sum = MappedFileTests.sum(bytes)
      let before = process.residentByteCount
      let part = try #require(bytes.slice(offset: 5000, count: size - 10_000))
      part.dropPages()
      #expect(before == 0 || process.residentByteCount < before - size / 2)
      #expect(MappedFileTests.sum(bytes) == sum)
      #expect(try bytes.touches() == 0)
      // Memory that is not of a file stays as it is.
      let copy = bytes.withUnsafeBytes { Bytes(copying: $0) }
      copy.dropPages()
      #expect(MappedFileTests.sum(copy) == sum)
    }
  }

  @Test func smallFilesAreReadIntoMemory() throws {
    let path = try Self.file(1000)
    defer { unlink(path) }
    let bytes = try Bytes(mapping: path)
    #expect(bytes.isOfFile)
    #expect(truncate(path, 0) == 0)
    #expect(Self.sum(bytes) == 7000)
    _ = try bytes.touches()
  }

  @Test func foreignSignalIsPassedOn() async {
    await #expect(processExitsWith: .signal(SIGBUS)) {
      let path = try MappedFileTests.file(MappedFileTests.large)
      let guarded = try Bytes(mapping: path)
      let descriptor = open(path, O_RDWR)
      unlink(path)
      let other = mmap(nil, MappedFileTests.large, PROT_READ, MAP_PRIVATE, descriptor, 0)
      ftruncate(descriptor, 0)
      _ = MappedFileTests.sum(guarded)
      exit(Int32(other?.load(as: UInt8.self) ?? 0) + 2)
    }
    await #expect(processExitsWith: .success) {
      signal(SIGBUS) { _ in _exit(EXIT_SUCCESS) }
      let path = try MappedFileTests.file(MappedFileTests.large)
      _ = try Bytes(mapping: path)
      unlink(path)
      raise(SIGBUS)
      _exit(EXIT_FAILURE)
    }
  }
}
