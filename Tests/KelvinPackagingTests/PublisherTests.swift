import FoundationEssentials
import Glibc
import KelvinBasics
import KelvinPackaging
import Synchronization
import TestSupport
import Testing

/// Publishing in a folder.
@Suite struct PublisherTests {
  private let folder = TemporaryFolder()
  private static let key = [UInt8](1...32)

  private var target: String { "\(folder.path)/public" }

  private func release(_ version: String, _ contents: String = "model", name: String = "m") throws -> Publisher.Release
  {
    let model = folder.write(contents, "\(name).onnx")
    return Publisher.Release(model: model, name: name, version: try #require(SemanticVersion(version)))
  }

  private func file(_ name: String) -> [UInt8] { TemporaryFolder.read("\(target)/\(name)") }

  private var state: [String: [UInt8]] {
    Dictionary(uniqueKeysWithValues: (TemporaryFolder.entries(target) ?? []).map { ($0, file($0)) })
  }

  @Test func versionsAreAddedAndSigned() throws {
    let publisher = try Publisher(folder: target, key: Self.key)
    var first = try release("1.0.0", "one")
    first.tags = ["small", "vision"]
    let outcome = try publisher.publish(first)
    #expect(!outcome.wasPublished && outcome.isSigned && outcome.model.file == "m-1.0.0.tar.zst")
    _ = try publisher.publish(release("1.1.0", "two"))
    let publicKey = try SigningKeys.publicKey(of: Self.key)
    try Manifest.verify(file("manifest.json"), signature: file("manifest.json.sig"), key: publicKey)
    let manifest = try Manifest.read(file("manifest.json"))
    #expect(manifest.models.map(\.version.description) == ["1.0.0", "1.1.0"])
    #expect(manifest.models[0].tags == ["small", "vision"])
    for (model, contents) in zip(manifest.models, ["one", "two"]) {
      let archive = try OpenFile("\(target)/\(model.file)")
      #expect(archive.byteCount == model.bytes)
      #expect(try FileDigest.sha256(of: archive) == model.sha256)
      try Archive.unpack(archive.path, into: "\(folder.path)/out-\(contents)")
      #expect(TemporaryFolder.read("\(folder.path)/out-\(contents)/m.onnx") == Array(contents.utf8))
    }
    #expect(
      TemporaryFolder.entries(target) == ["m-1.0.0.tar.zst", "m-1.1.0.tar.zst", "manifest.json", "manifest.json.sig"])
  }

  /// A reader that has the old manifest finds its signature too.
  @Test func oldManifestIsValidWithNewSignatures() throws {
    let publisher = try Publisher(folder: target, key: Self.key)
    _ = try publisher.publish(release("1.0.0"))
    let old = file("manifest.json")
    _ = try publisher.publish(release("1.1.0"))
    let publicKey = try SigningKeys.publicKey(of: Self.key)
    try Manifest.verify(old, signature: file("manifest.json.sig"), key: publicKey)
    try Manifest.verify(file("manifest.json"), signature: file("manifest.json.sig"), key: publicKey)
    #expect(old != file("manifest.json"))
  }

  @Test(arguments: Archive.endings) func sameVersionWithOtherContentsIsRefused(ending: String) throws {
    let publisher = try Publisher(folder: target, key: nil)
    var first = try release("1.0.0", "one")
    first.archive = ending
    _ = try publisher.publish(first)
    let before = state
    #expect(before["m-1.0.0.\(ending)"] != nil && before["manifest.json.sig"] == nil)
    #expect(try publisher.publish(first).wasPublished)
    #expect(state == before)
    var other = try release("1.0.0", "two")
    other.archive = ending
    let error = #expect(throws: PackagingError.self) { try publisher.publish(other) }
    #expect(error?.code == .exists && state == before)
  }

  @Test func foldersOfOtherKeysAreRefused() throws {
    _ = try Publisher(folder: target, key: Self.key).publish(release("1.0.0"))
    let before = state
    for key in [nil, [UInt8](2...33)] {
      let publisher = try Publisher(folder: target, key: key)
      let error = #expect(throws: PackagingError.self) { try publisher.publish(release("1.1.0")) }
      #expect(error?.code == .signature && state == before, "\(String(describing: error))")
    }
    // An entry that another program added is not signed.
    folder.write(file("manifest.json") + [0x20], "public/manifest.json")
    let publisher = try Publisher(folder: target, key: Self.key)
    #expect(throws: PackagingError.self) { try publisher.publish(release("1.1.0")) }
  }

  @Test func damagedManifestIsKept() throws {
    folder.write("{", "x")
    mkdir(target, 0o755)
    folder.write("{", "public/manifest.json")
    let publisher = try Publisher(folder: target, key: nil)
    let error = #expect(throws: PackagingError.self) { try publisher.publish(release("1.0.0")) }
    #expect(error?.code == .malformed && state == ["manifest.json": Array("{".utf8)])
  }

  @Test func namesAndKeysAreChecked() throws {
    let publisher = try Publisher(folder: target, key: nil)
    var release = try release("1.0.0")
    release.name = "../m"
    #expect(throws: PackagingError.self) { try publisher.publish(release) }
    release.name = "m"
    release.tags = ["a b"]
    #expect(throws: PackagingError.self) { try publisher.publish(release) }
    #expect(throws: PackagingError.self) { try Publisher(folder: target, key: [1]) }
    #expect(access(target, F_OK) != 0)
    // The archive of another model is not replaced.
    _ = try publisher.publish(self.release("1.0.0-2.0.0", name: "m"))
    let before = state
    #expect(throws: PackagingError.self) { try publisher.publish(self.release("2.0.0", "x", name: "m-1.0.0")) }
    #expect(state == before)
  }

  @Test func expiryIsWritten() throws {
    let publisher = try Publisher(folder: target, key: nil)
    let now = try Date("2026-03-14T15:09:00Z", strategy: .iso8601)
    _ = try publisher.publish(release("1.0.0"), validFor: 60, now: now)
    #expect(try Manifest.read(file("manifest.json"), at: now).models.count == 1)
    #expect(throws: PackagingError.self) { try Manifest.read(file("manifest.json"), at: now + 60) }
    let before = state
    let error = #expect(throws: PackagingError.self) { try publisher.publish(release("1.1.0"), now: now + 1000) }
    #expect(error?.code == .expired && state == before)
    // An expired manifest can be published again.
    _ = try publisher.publish(release("1.1.0"), validFor: 60, now: now + 1000)
    #expect(try Manifest.read(file("manifest.json"), at: now + 1000).models.count == 2)
  }

  /// Publishers at the same time lose no entry, and a reader never sees a state that is not complete.
  @Test func publishersAtOnceLoseNothing() async throws {
    let (target, root) = (target, folder.path)
    let publicKey = try SigningKeys.publicKey(of: Self.key)
    let isDone = Mutex(false)
    async let faults: [String] = Task.detached {
      var faults: [String] = []
      while !isDone.withLock({ $0 }) {
        let manifest = TemporaryFolder.read("\(target)/manifest.json")
        guard !manifest.isEmpty else { continue }
        do {
          // The manifest is read before its signatures. Two publications between them need another attempt.
          let signature = TemporaryFolder.read("\(target)/manifest.json.sig")
          for model in try Manifest.read(manifest).models
          where access("\(target)/\(model.file)", F_OK) != 0 { faults.append("no \(model.file)") }
          if TemporaryFolder.read("\(target)/manifest.json") == manifest {
            try Manifest.verify(manifest, signature: signature, key: publicKey)
          }
        } catch { faults.append("\(error)") }
      }
      return faults
    }.value
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<3 {
        group.addTask {
          let model = "\(root)/worker\(worker).onnx"
          let publisher = try Publisher(folder: target, key: Self.key)
          for index in 0..<Tier.trials(3, of: 20) {
            let file = fopen(model, "wb")
            fputs("\(worker) \(index)", file)
            fclose(file)
            let version = try #require(SemanticVersion("1.\(index).0"))
            _ = try publisher.publish(Publisher.Release(model: model, name: "w\(worker)", version: version))
          }
        }
      }
      try await group.waitForAll()
    }
    isDone.withLock { $0 = true }
    #expect(await faults == [])
    #expect(try Manifest.read(file("manifest.json")).models.count == 3 * Tier.trials(3, of: 20))
    #expect((TemporaryFolder.entries(target) ?? []).count == 3 * Tier.trials(3, of: 20) + 2)
  }
}
