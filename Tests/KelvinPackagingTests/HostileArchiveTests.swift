import Glibc
import KelvinBasics
import KelvinPackaging
import TestSupport
import Testing

/// Archives that could harm, or are damaged: an error, and nothing is left in the folder or outside it.
@Suite struct HostileArchiveTests {
  private let folder = TemporaryFolder()

  private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

  /// Unpacks an archive below a folder of its own, and returns the error; nil if it was unpacked.
  private func failure(_ bytes: [UInt8], limits: ArchiveLimits = .standard) -> PackagingError? {
    let archive = folder.write(bytes, "archive")
    defer { Self.remove(path("deep")) }
    mkdir(path("deep"), 0o755)
    do throws(PackagingError) { try Archive.unpack(archive, into: path("deep/out"), limits: limits) } catch {
      #expect(TemporaryFolder.entries(path("deep")) == [], "\(error)")
      #expect(TemporaryFolder.entries(folder.path) == ["archive", "deep"], "\(error)")
      return error
    }
    #expect(TemporaryFolder.entries(path("deep")) == ["out"])
    return nil
  }

  private static func remove(_ path: String) {
    guard unlink(path) != 0 else { return }
    for entry in TemporaryFolder.entries(path) ?? [] { remove("\(path)/\(entry)") }
    rmdir(path)
  }

  private static let harmfulPaths = [
    "/tmp/kelvin-x", "../x", "a/../../x", "..", "a/..", "a\\b", "a//b", "a/./b", "", "\u{1}", "a\nb", ".", "./.",
    String(repeating: "a/", count: 40) + "b",
  ]

  @Test(arguments: harmfulPaths) func harmfulPathsAreRefused(name: String) {
    var (tar, zip) = (TarFile(), ZIPFile())
    tar.add("good", [1])
    tar.add(name, [1])
    zip.add("good", [1])
    zip.add(name, [1])
    for bytes in [tar.bytes, zip.bytes] {
      let error = failure(bytes)
      #expect(error != nil && [.refused, .malformed].contains(error?.code), "\(String(describing: error))")
    }
  }

  @Test func pathsInRecordsAreCheckedToo() {
    for value in [
      Array("../x".utf8), Array("a\0b".utf8), Array("/x".utf8), [0xFF, 0x41], [UInt8](repeating: 65, count: 300),
    ] {
      var tar = TarFile()
      tar.addRecord("path", value)
      tar.add("good", [1])
      #expect(failure(tar.bytes)?.code == .refused, "\(value)")
    }
    var long = TarFile()
    long.add("././@LongLink", Array("../../x\0".utf8), type: "L")
    long.add("good", [1])
    #expect(failure(long.bytes)?.code == .refused)
    for key in ["path", "size", "linkpath", "GNU.sparse.major"] {
      var common = TarFile()
      common.addRecord(key, Array("1".utf8), type: "g")
      common.add("good", [1])
      #expect(failure(common.bytes)?.code == .refused, "\(key)")
    }
    var sparse = TarFile()
    sparse.addRecord("GNU.sparse.realsize", Array("100".utf8))
    sparse.add("good", [1])
    #expect(failure(sparse.bytes)?.code == .refused)
  }

  @Test(arguments: ["1", "2", "3", "4", "6", "7", "K", "S", "V", "M", "D", "A", "z"] as [Character])
  func linksDevicesAndUnknownEntriesAreRefused(type: Character) {
    var tar = TarFile()
    tar.add("good", [1])
    tar.add("bad", type: type, link: "/etc/passwd")
    #expect(failure(tar.bytes)?.code == .refused)
  }

  @Test(.enabled(if: Shell.hasPython, "needs python3")) func linksInZIPFilesAreRefused() {
    let made = Shell.run(
      """
      python3 - '\(path("link.zip"))' <<'END'
      import stat, sys, zipfile
      with zipfile.ZipFile(sys.argv[1], "w") as file:
          entry = zipfile.ZipInfo("link")
          entry.create_system = 3
          entry.external_attr = (stat.S_IFLNK | 0o777) << 16
          file.writestr(entry, "/etc/passwd")
      END
      """)
    #expect(made.status == 0, "\(made.output)")
    let bytes = TemporaryFolder.read(path("link.zip"))
    unlink(path("link.zip"))
    let error = failure(bytes)
    #expect(error?.code == .refused && error?.description.contains("symbolic link") == true)
  }

  @Test func equalPathsAreRefused() {
    for (first, second) in [
      ("a", "a"), ("caf\u{E9}", "cafe\u{301}"), ("caf\u{E9}/x", "cafe\u{301}/y"), ("a", "a/b"), ("a/b", "a"),
    ] {
      var (tar, zip) = (TarFile(), ZIPFile())
      for name in [first, second] {
        tar.add(name, [1])
        zip.add(name, [1])
      }
      #expect(failure(tar.bytes)?.code == .refused, "\(first) \(second)")
      #expect(failure(zip.bytes)?.code == .refused, "\(first) \(second)")
    }
    var folders = TarFile()
    folders.add("a/", type: "5")
    folders.add("a/b", [1])
    folders.add("a/", type: "5")
    #expect(failure(folders.bytes)?.code == .refused)
    var later = TarFile()
    later.add("a/b", [1])
    later.add("a/", type: "5")
    #expect(failure(later.bytes) == nil)
  }

  @Test func tooManyEntriesAreRefused() {
    var standard = ArchiveLimits.standard
    #expect(standard.entries == 10_000)
    if !Tier.isSlow { standard.entries = 500 }
    var (tar, zip) = (TarFile(), ZIPFile())
    for index in 0...standard.entries {
      tar.add("\(index)")
      zip.add("\(index)", [])
    }
    for error in [failure(tar.bytes, limits: standard), failure(zip.bytes, limits: standard)] {
      #expect(error?.code == .refused, "\(String(describing: error))")
      #expect(
        error?.description.contains("more than \(standard.entries) files") == true, "\(String(describing: error))")
    }
    // Folders without entries of their own count too.
    var deep = TarFile()
    for index in 0..<20 { deep.add("\(index)/a/b/c", [1]) }
    var limits = ArchiveLimits()
    limits.entries = 60
    #expect(failure(deep.bytes, limits: limits)?.code == .refused)
    limits.entries = 80
    #expect(failure(deep.bytes, limits: limits) == nil)
  }

  @Test(arguments: Archive.endings) func largeRatiosAreRefused(ending: String) throws {
    let large = path("large")
    let file = open(large, O_WRONLY | O_CREAT, 0o644)
    var standard = ArchiveLimits.standard
    #expect(standard.freeBytes == 64 << 20)
    if !Tier.isSlow { standard.freeBytes = 1 << 20 }
    #expect(ftruncate(file, off_t(standard.freeBytes + (8 << 20))) == 0)
    close(file)
    try Archive.write(large, to: path("a.\(ending)"))
    unlink(large)
    let bytes = TemporaryFolder.read(path("a.\(ending)"))
    unlink(path("a.\(ending)"))
    #expect(bytes.count < 100_000)
    let error = failure(bytes, limits: standard)
    #expect(error?.code == .refused && error?.description.contains("200 times") == true, "\(String(describing: error))")
    var limits = ArchiveLimits()
    limits.bytes = 1 << 20
    #expect(failure(bytes, limits: limits)?.description.contains("1.00 MiB") == true)
  }

  private static func archive(_ ending: String) throws -> [UInt8] {
    let folder = TemporaryFolder()
    folder.write([UInt8](repeating: 3, count: 700) + Array(UInt8.min...UInt8.max), "tree/first")
    folder.write("second", "tree/inner/second")
    folder.write([], "tree/third")
    if ending == "tar" {
      var tar = TarFile()
      for name in ["tree/first", "tree/inner/second", "tree/third"] {
        tar.add(name, TemporaryFolder.read("\(folder.path)/\(name)"))
      }
      return tar.bytes
    }
    try Archive.write("\(folder.path)/tree", to: "\(folder.path)/a.\(ending)")
    return TemporaryFolder.read("\(folder.path)/a.\(ending)")
  }

  @Test(arguments: Archive.endings + ["tar"]) func truncatedArchivesAreErrors(ending: String) throws {
    let bytes = try Self.archive(ending)
    #expect(failure(bytes) == nil)
    for count in stride(from: 1, to: bytes.count, by: ending == "tar" ? 128 : Tier.isSlow ? 1 : 7) {
      let error = failure(Array(bytes.prefix(count)))
      #expect(error != nil, "\(count) of \(bytes.count) bytes")
      #expect([.malformed, .unsupported].contains(error?.code), "\(String(describing: error))")
    }
    #expect(failure(bytes + [1])?.code == .malformed)
  }

  /// Random damage is an error, or does not concern the contents.
  @Test(arguments: Archive.endings + ["tar"]) func damagedArchivesAreErrors(ending: String) throws {
    let bytes = try Self.archive(ending)
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var found = 0
    for _ in 0..<Tier.trials(40, of: 3000) {
      var damaged = bytes
      for _ in 0...random.index(below: 3) {
        damaged[random.index(below: damaged.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      let archive = folder.write(damaged, "archive")
      do throws(PackagingError) { try Archive.unpack(archive, into: path("out")) } catch {
        found += 1
        #expect(access(path("out"), F_OK) != 0, "seed \(seed): \(error)")
        continue
      }
      if ending != "tar" {
        #expect(TemporaryFolder.read(path("out/tree/inner/second")) == Array("second".utf8), "seed \(seed)")
        #expect(TemporaryFolder.read(path("out/tree/first")).count == 956, "seed \(seed)")
      }
      Self.remove(path("out"))
    }
    #expect(found > 2, "seed \(seed)")
  }

  @Test func filesThatShareBytesAreRefused() {
    var zip = ZIPFile()
    zip.add("a", [UInt8](repeating: 1, count: 100))
    zip.add("b", [UInt8](repeating: 1, count: 100))
    var bytes = zip.bytes
    // The second entry of the directory gets the offset of the first.
    let second = bytes.count - 22 - 47
    for index in 0..<4 { bytes[second + 42 + index] = 0 }
    bytes[second + 46] = UInt8(ascii: "a")
    #expect(failure(bytes)?.code == .refused)
  }

  @Test func encryptedZIPFilesAndOtherMethodsAreRefused() {
    var zip = ZIPFile()
    zip.add("a", [1, 2, 3], flags: 1)
    #expect(failure(zip.bytes)?.code == .unsupported)
    var large = ZIPFile()
    large.add("a", [UInt8](repeating: 0, count: 100), deflated: true, size: 50)
    #expect(failure(large.bytes)?.code == .malformed)
    var small = ZIPFile()
    small.add("a", [UInt8](repeating: 0, count: 100), deflated: true, size: 150)
    #expect(failure(small.bytes)?.code == .malformed)
  }

  @Test func fullDiskAndUnwritableFoldersAreErrors() throws {
    let archive = folder.write(try Self.archive("tar.gz"), "archive")
    let error = #expect(throws: PackagingError.self) {
      try Archive.unpack(archive, into: "/proc/kelvin")
    }
    #expect(error?.code == .io)
    #expect(throws: PackagingError.self) { try Archive.unpack(archive, into: path("absent/out")) }
  }
}
