import FoundationEssentials
import Glibc
import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinRuntime
import Testing

/// The owners whose files the cache trusts.
@Suite struct CacheTrustTests {
  private let folder = "\(FileManager.default.temporaryDirectory.path)/kelvin-trust-\(UInt64.random(in: 0 ..< .max))"
  private var cache: String { "\(folder)/cache" }
  private static let isRoot = geteuid() == 0
  private static let stranger: uid_t = 65534
  private static let ownFolder: mode_t = 0o700
  private static let ownFile: mode_t = 0o600

  /// Creates the folder that contains the cache.
  private func prepare() { #expect(mkdir(folder, 0o700) == 0) }

  private func remove() { try? FileManager.default.removeItem(atPath: folder) }

  @discardableResult
  private func write(_ directory: CacheDirectory, _ name: String = "blobs/b") -> Bool {
    [UInt8(1), 2, 3].withUnsafeBytes { directory.write(name, [$0]) }
  }

  private func keepBlob(_ directory: CacheDirectory) {
    CompiledCache(directory, kelvinVersion: "1").blobs(CacheFixture.device)
      .store("key", UnsafeRawBufferPointer(start: nil, count: 0))
  }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  /// A status as a file system would give it.
  private func status(_ user: uid_t, _ mode: mode_t) -> stat {
    var status = stat()
    status.st_uid = user
    status.st_mode = mode
    return status
  }

  @Test func onlyOwnUnsharedFilesAreTrusted() {
    let trust = CacheTrust(user: 1000)
    for user in [0, 1000, 1001] as [uid_t] {
      for mode in 0...0o777 as ClosedRange<mode_t> {
        let objection = trust.objection(toOwn: status(user, mode))
        #expect((objection == nil) == (user == 1000 && mode & 0o022 == 0), "user \(user), mode \(mode)")
        for sticky in [0, S_ISVTX] {
          let objection = trust.objection(toParent: status(user, mode | sticky))
          #expect(
            (objection == nil) == (user != 1001 && (mode & 0o002 == 0 || sticky != 0)), "\(user), \(mode), \(sticky)")
        }
      }
    }
    // Root trusts files of root only.
    #expect(CacheTrust(user: 0).objection(toOwn: status(1000, 0o700))?.contains("(1000) and has mode 0700") == true)
  }

  @Test func createdFilesArePrivate() throws {
    prepare()
    defer { remove() }
    let directory = CacheDirectory("\(cache)/deep")
    directory.locking("models/m/p") { #expect(write(directory, "models/m/p")) }
    close(try directory.grow("journals/j"))
    keepBlob(directory)
    #expect(directory.remarks.isEmpty)
    var seen = 0
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      var status = stat()
      #expect(lstat("\(folder)/\(name)", &status) == 0)
      let expected = status.st_mode & S_IFMT == S_IFDIR ? Self.ownFolder : Self.ownFile
      #expect(status.st_mode & 0o7777 == expected, "\(name)")
      seen += 1
    }
    #expect(seen > 8)
  }

  @Test(arguments: [0o720, 0o702, 0o777, 0o1777] as [mode_t])
  func folderWritableByOthersIsRefused(mode: mode_t) throws {
    prepare()
    defer { remove() }
    #expect(mkdir(cache, 0o700) == 0 && chmod(cache, mode) == 0)
    let directory = CacheDirectory(cache)
    #expect(directory.read("blobs/b") == nil && !write(directory))
    #expect(throws: FileError.self) { try directory.grow("journals/j") }
    #expect(try FileManager.default.contentsOfDirectory(atPath: cache).isEmpty)
    let digits = String(mode, radix: 8)
    let remark = try #require(directory.remarks.first)
    #expect(directory.remarks.count == 1 && remark.contains("others may write to it"), "\(remark)")
    #expect(
      remark.contains("mode \(digits.count < 4 ? "0" : "")\(digits)") && remark.contains("--cache-dir"), "\(remark)")
    #expect(remark.contains("(\(geteuid()))"), "\(remark)")
  }

  @Test(.enabled(if: isRoot, "only root gives folders away"))
  func folderOfAnotherUserIsRefusedForRoot() throws {
    prepare()
    defer { remove() }
    #expect(mkdir(cache, 0o700) == 0 && chown(cache, Self.stranger, Self.stranger) == 0)
    for path in [cache, "\(cache)/below"] {
      let directory = CacheDirectory(path)
      #expect(!write(directory) && directory.remarks.count == 1)
      #expect(directory.remarks[0].contains("(65534) and has mode 0700"), "\(directory.remarks)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: cache).isEmpty)
    }
    // Files that another user left in one's own folder.
    #expect(chown(cache, geteuid(), getegid()) == 0)
    #expect(write(CacheDirectory(cache)))
    #expect(chown("\(cache)/blobs/b", Self.stranger, Self.stranger) == 0)
    let directory = CacheDirectory(cache)
    #expect(directory.read("blobs/b") == nil)
    #expect(directory.remarks.count == 1 && directory.remarks[0].contains("(65534)"), "\(directory.remarks)")
    // After it is written again it belongs to the user.
    #expect(write(directory) && CacheDirectory(cache).read("blobs/b")?.count == 3)
    // Links of other users are not followed either.
    let link = "\(folder)/link"
    #expect(symlink(cache, link) == 0 && CacheDirectory(link).read("blobs/b")?.count == 3)
    #expect(lchown(link, Self.stranger, Self.stranger) == 0)
    let linked = CacheDirectory(link)
    #expect(linked.read("blobs/b") == nil && linked.remarks.count == 1)
    #expect(linked.remarks.first?.contains("link that belongs to") == true, "\(linked.remarks)")
  }

  @Test func worldWritableParentMustBeSticky() throws {
    prepare()
    defer { remove() }
    #expect(chmod(folder, 0o777) == 0)
    let directory = CacheDirectory(cache)
    #expect(!write(directory) && mode(cache) == 0)
    #expect(directory.remarks.first?.contains("mode 0777") == true, "\(directory.remarks)")
    #expect(chmod(folder, 0o1777) == 0)
    #expect(write(CacheDirectory(cache)))
    #expect(chmod(folder, 0o700) == 0)
  }

  /// A link is as good as the folders that it leads through, each of which could be made to lead elsewhere.
  @Test func linkTargetsAreChecked() throws {
    prepare()
    defer { remove() }
    let (open, closed) = ("\(folder)/open", "\(folder)/closed")
    for path in [open, closed, "\(open)/cache", "\(closed)/cache"] { #expect(mkdir(path, 0o700) == 0) }
    #expect(symlink("closed/cache", "\(folder)/good") == 0 && symlink("../closed/cache", "\(open)/hop") == 0)
    #expect(symlink("\(open)/cache", "\(folder)/last") == 0 && symlink("open/hop", "\(folder)/between") == 0)
    #expect(symlink("open", "\(folder)/way") == 0 && symlink("loop", "\(folder)/loop") == 0)
    let ways = ["good", "last", "between", "way/cache", "open/../last"]
    for way in ways {
      let directory = CacheDirectory("\(folder)/\(way)")
      #expect(write(directory, way == "good" ? "g" : "b") && directory.remarks.isEmpty, "\(directory.remarks)")
    }
    #expect(chmod(open, 0o777) == 0)
    for way in ways {
      let directory = CacheDirectory("\(folder)/\(way)")
      #expect(write(directory) == (way == "good"), "\(way)")
      let place = directory.remarks.first?.contains("cannot trust '\(open)': others may write to it") ?? false
      #expect(place == (way != "good"), "\(way): \(directory.remarks)")
    }
    let loop = CacheDirectory("\(folder)/loop")
    #expect(!write(loop) && loop.remarks.first?.contains(String(cString: strerror(ELOOP))) == true, "\(loop.remarks)")
    #expect(chmod(open, 0o700) == 0)
  }

  /// Each place where a link may have been planted while the folder was open to others.
  @Test(arguments: ["blobs/b", "blobs", "secret", "profiles.lock", "journals/j"])
  func plantedLinksAreNotFollowed(name: String) throws {
    prepare()
    defer { remove() }
    let victim = "\(folder)/victim"
    #expect(mkdir(cache, 0o700) == 0)
    if name == "blobs" {
      #expect(mkdir(victim, 0o700) == 0)
    } else {
      try Data([9, 9]).write(to: URL(filePath: victim))
      for part in ["blobs", "journals"] { #expect(mkdir("\(cache)/\(part)", 0o700) == 0) }
    }
    #expect(symlink(victim, "\(cache)/\(name)") == 0)
    let directory = CacheDirectory(cache)
    switch name {
    case "journals/j": #expect(throws: FileError.self) { try directory.grow(name) }
    case "profiles.lock": #expect(directory.locking("profiles") { true } == true)
    case "secret":
      keepBlob(directory)
    default: #expect(directory.read("blobs/b") == nil)
    }
    if name != "journals/j" {
      #expect(
        directory.remarks.first?.contains("it is a link, which the cache does not follow") == true,
        "\(directory.remarks)")
    }
    write(directory)
    if name == "blobs" {
      #expect(try FileManager.default.contentsOfDirectory(atPath: victim).isEmpty)
    } else {
      #expect(try Data(contentsOf: URL(filePath: victim)) == Data([9, 9]))
    }
  }

  @Test func pipeInsteadOfAFileDoesNotBlock() throws {
    prepare()
    defer { remove() }
    #expect(mkdir(cache, 0o700) == 0 && mkdir("\(cache)/blobs", 0o700) == 0 && mkfifo("\(cache)/blobs/b", 0o600) == 0)
    let directory = CacheDirectory(cache)
    #expect(directory.read("blobs/b") == nil && directory.remarks.count == 1)
    #expect(write(directory) && directory.read("blobs/b")?.count == 3)
  }

  @Test func removedFolderIsCreatedAgain() throws {
    prepare()
    defer { remove() }
    let directory = CacheDirectory(cache)
    keepBlob(directory)
    #expect(write(directory))
    try FileManager.default.removeItem(atPath: cache)
    #expect(directory.read("blobs/b") == nil && write(directory) && directory.remarks.isEmpty)
    // Entries stored from now on are sealed with the current secret.
    keepBlob(directory)
    let later = CacheDirectory(cache)
    #expect(CompiledCache(later, kelvinVersion: "1").blobs(CacheFixture.device).blob("key")?.count == 0)
    #expect(later.remarks.isEmpty)
    #expect(mode(cache) == Self.ownFolder)
  }
}
