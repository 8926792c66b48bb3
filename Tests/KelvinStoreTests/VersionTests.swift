import FaultyServer
import FoundationEssentials
import Glibc
import Kelvin
import KelvinStore
import TestSupport
import Testing

/// Versions of a store: the current one, pins, removal, the quota, and the folder itself.
struct VersionTests {
  private let folder = TemporaryFolder()
  private let digits = TemporaryFolder.read("\(SharedFiles.projectRoot)/Examples/Digits/Digits.onnx")
  private var path: String { "\(folder.path)/models" }
  private var store: ModelStore { ModelStore(at: URL(filePath: path)) }

  /// Fetches a version from a local file.
  @discardableResult
  private func add(_ version: String, name: String = "Digits") async throws(StoreError) -> StoredModel {
    let file = folder.write(
      digits + [0x12, UInt8(version.utf8.count)] + Array(version.utf8), "\(name)-\(version).onnx")
    return try await store.fetch(file, name: "\(name)@\(version)").model
  }

  /// The versions as `1 2* 3!`: `*` is current, `!` pinned.
  private func state(_ name: String = "Digits") throws -> String {
    try store.models().filter { $0.name == name }.sorted { $0.version < $1.version }
      .map { "\($0.version)\($0.isCurrent ? "*" : "")\($0.isPinned ? "!" : "")" }.joined(separator: " ")
  }

  @Test func arrivalIsCurrentAndRollBackReturns() async throws {
    for version in ["1", "2", "3"] { try await add(version) }
    #expect(try state() == "1 2 3*" && store.model("Digits").version == "3")
    #expect(try store.rollBack("Digits").version == "2")
    #expect(try store.rollBack("Digits").version == "1")
    let none = await failure { () throws(StoreError) in try store.rollBack("Digits") }
    #expect(none?.code == .absent, "\(none as Any)")
    try store.use("Digits@3")
    #expect(try state() == "1 2 3*" && store.rollBack("Digits").version == "1")
    #expect(try store.model("Digits@2").version == "2")
  }

  @Test func pinnedVersionStaysCurrent() async throws {
    try await add("1")
    try store.pin("Digits")
    try await add("2")
    #expect(try state() == "1*! 2")
    let pinned = await failure { () throws(StoreError) in try store.remove("Digits") }
    #expect(pinned?.code == .busy && pinned?.description.contains("--unpin Digits@1") == true, "\(pinned as Any)")
    #expect(try state() == "1*! 2")
    try store.pin("Digits", false)
    try await add("3")
    #expect(try state() == "1 2 3*")
  }

  @Test func removalLeavesTheEarlierVersionAndNoFiles() async throws {
    for version in ["1", "2", "3"] { try await add(version) }
    #expect(try store.remove("Digits@3").map(\.version) == ["3"] && state() == "1 2*")
    #expect(try store.remove("Digits").count == 2 && store.models().isEmpty)
    #expect(TemporaryFolder.entries(path) == [".downloads", ".lock"])
    let absent = await failure { () throws(StoreError) in try store.remove("Digits") }
    #expect(absent?.code == .absent, "\(absent as Any)")
  }

  @Test func versionInUseIsNotRemoved() async throws {
    let model = try await add("1")
    var use = try model.use()
    #expect(use != nil)
    let busy = await failure { () throws(StoreError) in try store.remove("Digits") }
    #expect(busy?.code == .busy, "\(busy as Any)")
    #expect(try store.setQuota(1).isEmpty && state() == "1*")
    use = nil
    #expect(try store.remove("Digits").count == 1)
    #expect(try model.use() == nil)
  }

  @Test func quotaRemovesVersionsThatAreNotCurrentThenTheLeastRecentlyUsed() async throws {
    for (name, version) in [("A", "1"), ("A", "2"), ("B", "1"), ("C", "1"), ("D", "1")] {
      try await add(version, name: name)
    }
    /// Sets the time of the last use, in seconds from now.
    func use(_ name: String, _ seconds: Int) throws {
      var times = [
        timespec(tv_sec: time(nil) + seconds, tv_nsec: 0), timespec(tv_sec: time(nil) + seconds, tv_nsec: 0),
      ]
      utimensat(AT_FDCWD, "\(try store.model(name).folderPath)/.used", &times, 0)
    }
    for (name, seconds) in [("A@1", 0), ("A@2", -50), ("B", -400), ("C", -300), ("D", 5000)] { try use(name, seconds) }
    try store.pin("B")
    let size = digits.count + 10
    #expect(try store.setQuota(4 * size).map { "\($0.name)@\($0.version)" } == ["A@1"])
    #expect(try store.setQuota(3 * size).map { "\($0.name)@\($0.version)" } == ["C@1"])
    #expect(store.quota == 3 * size)
    // A version of the future was used now at the latest, as is the one that arrives.
    let removed = try await store.fetch(folder.write(digits, "E.onnx"), name: "E@1").remarks
    #expect(removed.count == 1 && removed[0].contains("'A@2' was removed"), "\(removed)")
    try store.setQuota(digits.count / 2)
    let large = await failure { () async throws(StoreError) in try await add("1", name: "F") }
    #expect(large?.code == .quota, "\(large as Any)")
    #expect(try store.setQuota(nil).isEmpty && store.quota == nil)
  }

  @Test func compiledWeightsCountAndVanishWithTheirVersion() async throws {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.cacheDirectory = URL(filePath: "\(folder.path)/cache")
    let model = try await add("1")
    #expect(model.cacheByteCount == 0)
    let compiled = try await store.compile(model, configuration: configuration).model
    let packs = TemporaryFolder.files("\(folder.path)/cache/models")
    #expect(!packs.isEmpty && compiled.cacheByteCount == packs.reduce(0) { $0 + TemporaryFolder.read($1).count })
    let same = try await store.fetch(folder.write(digits + [0x12, 1] + Array("1".utf8), "Same.onnx")).model
    _ = try await store.compile(same, configuration: configuration)
    try store.remove("Digits")
    #expect(TemporaryFolder.files("\(folder.path)/cache/models") == packs)
    try store.remove("Same")
    #expect(TemporaryFolder.files("\(folder.path)/cache/models").allSatisfy { !packs.contains($0) })
  }

  @Test func wrongNamesAreErrors() async throws {
    try await add("1")
    for (name, code) in [
      ("Absent", StoreError.Code.absent), ("Digits@2", .absent), ("../Digits", .request), ("", .request),
      (".lock", .request), ("Digits@1@2", .request), ("Digits@", .request),
    ] {
      let error = await failure { () throws(StoreError) in try store.model(name) }
      #expect(error?.code == code, "\(name): \(error as Any)")
    }
    let plain = await failure { () throws(StoreError) in try store.use("Digits") }
    #expect(plain?.code == .request, "\(plain as Any)")
  }

  @Test func damagedVersionIsLeftOutAndReplaced() async throws {
    let model = try await add("1")
    try await add("2")
    let record = "\(model.folderPath)/.record.json"
    for bytes in [Array("{".utf8), Array(TemporaryFolder.read(record).dropLast(9)), []] {
      #expect(truncate(record, 0) == 0)
      let file = fopen(record, "wb")
      fwrite(bytes, 1, bytes.count, file)
      fclose(file)
      #expect(try state() == "2*")
    }
    #expect(try await add("1").isCurrent)
    #expect(try state() == "1* 2")
  }

  @Test func leftoversOfProcessesThatEndedAreRemoved() async throws {
    try await add("1")
    for name in [
      ".arriving-x/Digits.onnx", ".removed-y/z/w", "Digits/.choices.json.writing-1", ".settings.json.writing-2",
    ] {
      #expect(access(Self.made(name, in: path), F_OK) == 0)
    }
    try store.setQuota(nil)
    let kept = TemporaryFolder.files(path).filter {
      $0.contains(".arriving-") || $0.contains(".removed-") || $0.contains(".writing-")
    }
    #expect(kept.isEmpty, "\(kept)")
    #expect(try state() == "1*")
  }

  /// Writes a file below a folder.
  private static func made(_ name: String, in folder: String) -> String {
    var path = folder
    for part in name.split(separator: "/").dropLast() {
      path += "/\(part)"
      mkdir(path, 0o700)
    }
    if let file = fopen("\(folder)/\(name)", "wb") { fclose(file) }
    return "\(folder)/\(name)"
  }

  @Test func folderThatOthersCanWriteToIsNotTrusted() async throws {
    try await add("1")
    chmod(path, 0o777)
    let open = await failure { () throws(StoreError) in try store.models() }
    #expect(open?.code == .io && open?.description.contains("KELVIN_MODELS_DIR") == true, "\(open as Any)")
    let fetch = await failure { () async throws(StoreError) in try await add("2") }
    #expect(fetch?.code == .io, "\(fetch as Any)")
    chmod(path, 0o700)
    chmod(folder.path, 0o777)
    let parent = await failure { () throws(StoreError) in try store.models() }
    #expect(parent?.code == .io && parent?.description.contains("others can replace") == true, "\(parent as Any)")
    chmod(folder.path, 0o700)
    #expect(try state() == "1*")
  }

  @Test(.enabled(if: geteuid() == 0, "needs root, to give the folder to another user"))
  func folderOfAnotherUserIsNotTrusted() async throws {
    try await add("1")
    chown(path, 65534, 65534)
    let error = await failure { () throws(StoreError) in try store.models() }
    #expect(error?.code == .io && error?.description.contains("belongs to user 65534") == true, "\(error as Any)")
    chown(path, 0, 0)
    #expect(try state() == "1*")
  }
}

extension StoredModel {
  /// The folder of the version.
  fileprivate var folderPath: String { String(url.relativePath.dropLast(url.lastPathComponent.utf8.count + 1)) }
}
