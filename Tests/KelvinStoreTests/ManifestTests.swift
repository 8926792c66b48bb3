import FaultyServer
import FoundationEssentials
import KelvinStore
import Synchronization
import TestSupport
import Testing

/// Models of a manifest, with and without its signature.
@Suite(.enabled(if: FaultyServer.isAvailable, "\(FaultyServer.reason)"))
struct ManifestTests {
  private let fixture = StoreFixture()
  private var server: FaultyServer { fixture.server }

  /// The key pair was made by `openssl genpkey -algorithm ed25519`, the signature of the manifest by `openssl pkeyutl
  /// -sign -rawin`.
  private static let key = bytes("f6fde04f4d04e37df36c57cdf00bf8bf65e56a4a02e3f06cf81e573ec7ac47f3")
  private static let signature = bytes(
    "3f20f31031c070ada5395b2012c3df34dbb2236e73480bc48d5301015f6dcd85"
      + "b6e7d0d92949f351ce79492473811ea96536b8d2d9e1ba426aff04e9022f8a01")
  private static let manifest = """
    {
     "format": "kelvin-models",
     "version": 1,
     "models": [
      {
       "name": "Digits",
       "version": "1.0.0",
       "file": "Digits.onnx",
       "sha256": "a26c42aaa0936a9f2d9a658888b860d1ec73deb66936f246402b805a774bb613",
       "bytes": 318450,
       "tags": [
        "numbers",
        "small"
       ]
      },
      {
       "name": "Digits",
       "version": "1.1.0",
       "file": "Other.onnx",
       "sha256": "b25502d4c3e5987fe056570fa6f216c7e13f4e65c0fcee9ba97a83f566e9354e",
       "bytes": 318455,
       "tags": [
        "numbers"
       ]
      },
      {
       "name": "Second",
       "version": "0.5.0",
       "file": "Digits.onnx",
       "sha256": "a26c42aaa0936a9f2d9a658888b860d1ec73deb66936f246402b805a774bb613",
       "bytes": 318450,
       "tags": [
        "letters"
       ]
      }
     ]
    }

    """

  private static func bytes(_ digits: String) -> [UInt8] {
    let digits = Array(digits)
    return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
  }

  init() {
    server.folder.write(Self.manifest, "manifest.json")
    server.folder.write(Self.signature, "manifest.json.sig")
  }

  private func fetch(
    _ name: String, _ path: String = "plain/manifest.json", key: [UInt8]? = nil
  ) async throws(StoreError) -> FetchedModel {
    try await fixture.store.fetch(name, from: server.url(path), key: key.map { Data($0) })
  }

  @Test func nameIsTheNewestVersionAndEachVersionHasItsContents() async throws {
    let newest = try await fetch("Digits")
    #expect(newest.model.version == "1.1.0" && newest.model.tags == ["numbers"])
    #expect(fixture.bytes(newest.model) == fixture.other)
    let older = try await fetch("Digits@1.0.0")
    #expect(older.isNew && older.model.isCurrent && fixture.bytes(older.model) == fixture.digits)
    #expect(try await !fetch("Digits@1.1.0").isNew)
    #expect(fixture.requests("plain/Other.onnx").all == 1)
  }

  @Test func onlyTheKeyOfTheSignatureIsAccepted() async throws {
    let other = Self.key.dropLast() + [1]
    let wrong = await failure { () async throws(StoreError) in try await fetch("Digits", key: Array(other)) }
    #expect(wrong?.code == .integrity && wrong?.description.contains("manifest.json") == true, "\(wrong as Any)")
    let signed = try await fetch("Digits", key: Self.key)
    #expect(signed.isNew)
    server.folder.write(Self.manifest.replacing("Other.onnx", with: "Digits.onnx"), "manifest.json")
    let changed = await failure { () async throws(StoreError) in try await fetch("Digits", key: Self.key) }
    #expect(changed?.code == .integrity, "\(changed as Any)")
  }

  @Test func storeAnswersForAServerThatCannotBeReachedAndForTheSameKeyOnly() async throws {
    _ = try await fetch("Digits")
    _ = try await fetch("Second", key: Self.key)
    server.stop()
    let kept = try await fetch("Digits")
    #expect(!kept.isNew && kept.remarks.count == 1 && kept.remarks[0].contains("cannot reach"))
    let unsigned = await failure { () async throws(StoreError) in try await fetch("Digits", key: Self.key) }
    #expect(unsigned?.code == .network, "\(unsigned as Any)")
    #expect(try await !fetch("Second", key: Self.key).isNew)
    let absent = await failure { () async throws(StoreError) in try await fetch("Digits@1.0.0") }
    #expect(absent?.code == .network, "\(absent as Any)")
  }

  @Test func tagsFetchTheirModelsWithOneProgress() async throws {
    let states = Mutex<[FetchProgress]>([])
    let found = try await fixture.store.request(
      tags: ["letters", "numbers"], from: server.url("plain/manifest.json")
    ) { state in states.withLock { $0.append(state) } }
    #expect(found.map { "\($0.model.name)@\($0.model.version)" } == ["Digits@1.1.0", "Second@0.5.0"])
    let all = states.withLock { $0 }
    #expect(Set(all.map(\.totalByteCount)) == [fixture.digits.count + fixture.other.count])
    #expect(all.map(\.receivedByteCount) == all.map(\.receivedByteCount).sorted() && all.last?.fractionCompleted == 1)
    // The newest version of Digits is not small.
    let none = await failure { () async throws(StoreError) in
      try await fixture.store.request(tags: ["small"], from: server.url("plain/manifest.json"))
    }
    #expect(none?.code == .absent, "\(none as Any)")
    server.stop()
    let kept = try await fixture.store.request(tags: ["letters"], from: server.url("plain/manifest.json"))
    #expect(kept.map(\.model.name) == ["Second"] && kept[0].remarks.count == 1)
  }

  /// Replacements in the manifest, the kind of the error, and a part of its message.
  private static let faults: [(old: String, new: String, code: StoreError.Code, part: String)] = [
    ("\"Other.onnx\"", "\"../Other.onnx\"", .invalid, "../Other.onnx"),
    ("\"Other.onnx\"", "\"/Other.onnx\"", .invalid, "/Other.onnx"),
    ("\"Other.onnx\"", "\"http://127.0.0.1/Other.onnx\"", .invalid, "Other.onnx"),
    ("318455", "318456", .integrity, "has 318455 bytes, expected 318456"),
    (StoreFixture.otherDigest, StoreFixture.digest, .integrity, "expected \(StoreFixture.digest)"),
    (StoreFixture.otherDigest, "12", .invalid, "manifest.json"), ("{", "<html>", .invalid, "manifest.json"),
    ("kelvin-models", "something", .invalid, "manifest.json"),
  ]

  @Test(arguments: faults.indices) func invalidManifestIsOneClearError(index: Int) async throws {
    let fault = Self.faults[index]
    server.folder.write(Self.manifest.replacing(fault.old, with: fault.new), "manifest.json")
    let error = await failure { () async throws(StoreError) in try await fetch("Digits") }
    #expect(error?.code == fault.code && error?.description.contains(fault.part) == true, "\(error as Any)")
    #expect(try fixture.store.models().isEmpty)
  }

  @Test func versionKeepsItsContents() async throws {
    _ = try await fetch("Digits@1.1.0")
    server.folder.write(
      Self.manifest.replacing(StoreFixture.otherDigest, with: StoreFixture.digest), "manifest.json")
    let error = await failure { () async throws(StoreError) in try await fetch("Digits@1.1.0") }
    #expect(
      error?.code == .integrity && error?.description.contains("--remove Digits@1.1.0") == true, "\(error as Any)")
  }

  @Test func missingModelsAndManifestsAreErrors() async throws {
    for (name, path, code) in [
      ("Absent", "plain/manifest.json", StoreError.Code.absent), ("Digits@9.9.9", "plain/manifest.json", .absent),
      ("Digits", "plain/absent.json", .network), ("../Digits", "plain/manifest.json", .request),
      ("Digits", "plain/Digits.onnx", .invalid), ("Digits", "html", .invalid),
    ] {
      let error = await failure { () async throws(StoreError) in try await fetch(name, path) }
      #expect(error?.code == code, "\(name), \(path): \(error as Any)")
    }
  }
}
