import FaultyServer
import FoundationEssentials
import Kelvin
import KelvinStore
import Synchronization
import TestSupport
import Testing

/// Downloads from a server with faults.
@Suite(.enabled(if: FaultyServer.isAvailable, "\(FaultyServer.reason)"))
struct DownloadTests {
  private let fixture = StoreFixture()
  private var server: FaultyServer { fixture.server }

  private func fetch(_ path: String, name: String? = "Digits", _ store: ModelStore? = nil) async throws(StoreError)
    -> FetchedModel
  {
    try await (store ?? fixture.store).fetch(server.url(path), name: name)
  }

  @Test func modelArrivesUnderTheNameOfItsFileAndLoads() async throws {
    let fetched = try await fetch("plain/Digits.onnx", name: nil)
    #expect(fetched.isNew && fetched.model.name == "Digits" && fetched.model.isCurrent)
    #expect(fetched.model.sha256 == StoreFixture.digest && fetched.model.version == StoreFixture.digest.prefix(12))
    #expect(fixture.bytes(fetched.model) == fixture.digits)
    let asset = ModelAsset(url: fetched.model.url)
    #expect(try await asset.modelDescription.inputNames.count == 1)
    #expect(fixture.leftovers.isEmpty, "\(fixture.leftovers)")
  }

  @Test func demandedContentsAreAnsweredWithoutTheServer() async throws {
    let first = try await fetch("plain/Digits.onnx#sha256=\(StoreFixture.digest)")
    server.stop()
    let second = try await fetch("plain/Digits.onnx#sha256=\(StoreFixture.digest.uppercased())")
    #expect(!second.isNew && second.model.version == first.model.version && second.remarks.isEmpty)
    #expect(fixture.requests("plain/Digits.onnx").all == 1)
  }

  @Test func unchangedFileIsNotSentAgain() async throws {
    _ = try await fetch("plain/Digits.onnx")
    let second = try await fetch("plain/Digits.onnx")
    #expect(!second.isNew && server.requests.last?.condition != nil)
    server.stop()
    let third = try await fetch("plain/Digits.onnx")
    #expect(!third.isNew && third.remarks.count == 1 && third.remarks[0].contains("cannot reach"))
  }

  @Test func changedFileIsAnotherVersion() async throws {
    let first = try await fetch("versions/Digits.onnx/Other.onnx")
    let second = try await fetch("versions/Digits.onnx/Other.onnx")
    #expect(second.isNew && second.model.isCurrent && second.model.sha256 == StoreFixture.otherDigest)
    #expect(try fixture.store.models().map(\.version).sorted() == [first.model.version, second.model.version].sorted())
  }

  @Test func brokenConnectionIsResumed() async throws {
    let fetched = try await fetch("break/Digits.onnx?after=40000")
    #expect(fixture.bytes(fetched.model) == fixture.digits)
    let requests = fixture.requests("break/Digits.onnx")
    #expect(requests.all == (fixture.digits.count + 39_999) / 40_000 && requests.ranges == requests.all - 1)
  }

  @Test func laterFetchResumesAnEarlierOne() async throws {
    let store = fixture.store { $0.resumptions = 0 }
    let error = await failure { () async throws(StoreError) in
      try await fetch("break-once/Digits.onnx?after=50000", store)
    }
    #expect(error?.code == .network && error?.description.contains("broke off") == true, "\(error as Any)")
    #expect(try store.models().isEmpty)
    let states = Mutex<[FetchProgress]>([])
    let fetched = try await store.fetch(server.url("break-once/Digits.onnx?after=50000")) { state in
      states.withLock { $0.append(state) }
    }
    #expect(fixture.bytes(fetched.model) == fixture.digits)
    #expect(server.requests.last?.range == "bytes=50000-")
    let first = states.withLock { $0.first }
    #expect(first?.receivedByteCount == 50_000 && first?.totalByteCount == fixture.digits.count)
    #expect(states.withLock { $0.last?.fractionCompleted } == 1)
  }

  @Test func fileThatChangesBetweenTwoPartsIsFetchedAnew() async throws {
    let fetched = try await fetch("changing/Digits.onnx/Other.onnx?after=50000")
    #expect(fixture.bytes(fetched.model) == fixture.other)
  }

  @Test func serverWithoutRangesSendsTheFileAgain() async throws {
    let fetched = try await fetch("no-ranges/Digits.onnx?after=50000")
    #expect(fixture.bytes(fetched.model) == fixture.digits && fixture.requests("no-ranges/Digits.onnx").all == 2)
  }

  @Test func redirectionsAreFollowed() async throws {
    let fetched = try await fetch("hops/10/Digits.onnx")
    #expect(fixture.bytes(fetched.model) == fixture.digits)
  }

  /// Paths, the kind of the error, and a part of its message.
  private static let faults: [(path: String, code: StoreError.Code, part: String)] = [
    ("longer/Digits.onnx", .network, "broke off"),
    ("shorter/Digits.onnx#sha256=\(StoreFixture.digest)", .integrity, "expected \(StoreFixture.digest)"),
    ("plain/Digits.onnx#sha256=\(String(repeating: "0", count: 64))", .integrity, "SHA-256 \(StoreFixture.digest)"),
    ("plain/Digits.onnx#sha1=00", .request, "expected #sha256="),
    ("loop", .network, "redirects more than 10 times"),
    ("hops/11/Digits.onnx", .network, "redirects more than 10 times"),
    ("redirect?to=file:///etc/passwd", .network, "is not followed"),
    ("redirect?to=ftp://127.0.0.1/x", .network, "is not followed"),
    ("html", .invalid, "a web page (HTML), expected a model"),
    ("disguised", .invalid, "a web page (HTML), expected a model"),
    ("silent", .network, "was silent for 1 s"),
    ("stall/Digits.onnx", .network, "was silent for 1 s"),
    ("plain/absent.onnx", .network, "the status 404 (not found)"),
    ("garbage", .network, "HTTP/0.9"),
    ("plain/noise", .invalid, "is not a model that can be used"),
    ("plain/empty", .invalid, "is empty"),
    ("plain/large", .quota, "expected at most"),
  ]

  @Test func faultIsOneClearErrorAndLeavesTheStoreAsItWas() async throws {
    server.folder.write(Array(repeating: 7, count: 5000), "noise")
    server.folder.write("", "empty")
    server.folder.write(Array(repeating: 7, count: 500_000), "large")
    _ = try await fetch("plain/Other.onnx")
    let store = fixture.store {
      $0.silentSeconds = 1
      $0.byteCount = 400_000
      $0.resumptions = 1
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for fault in Self.faults {
        group.addTask {
          let error = await failure { () async throws(StoreError) in try await fetch(fault.path, store) }
          #expect(error?.code == fault.code && error?.description.contains(fault.part) == true, "\(error as Any)")
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.models().map(\.sha256) == [StoreFixture.otherDigest])
    // Only parts that another attempt can resume stay.
    let parts = fixture.leftovers.filter { $0.hasSuffix(".part") }
    #expect(parts.count == 2 && fixture.leftovers.allSatisfy { $0.hasPrefix(".downloads/") }, "\(fixture.leftovers)")
  }

  @Test func unreachableServerAndWrongAddressesAreErrors() async throws {
    server.stop()
    for (address, code) in [
      (server.url("plain/Digits.onnx"), StoreError.Code.network), ("ftp://example.org/x", .request),
      ("Digits", .request), ("https://", .request), ("hf://owner/name", .request), ("file:///absent.onnx", .io),
      ("http://127.0.0.1/a b", .request),
    ] {
      let error = await failure { () async throws(StoreError) in try await fixture.store.fetch(address) }
      #expect(error?.code == code, "\(address): \(error as Any)")
    }
  }

  @Test func passwordsAndQueriesAreNotRecorded() async throws {
    let address = server.url("plain/Digits.onnx?token=secret").replacing("http://", with: "http://user:word@")
    let fetched = try await fixture.store.fetch(address)
    #expect(fetched.model.source == server.url("plain/Digits.onnx"))
    for file in TemporaryFolder.files(fixture.path) {
      let text = String(decoding: TemporaryFolder.read(file), as: UTF8.self)
      #expect(!text.contains("secret") && !text.contains("word@"), "\(file)")
    }
  }

  @Test func urlsWithDifferentQueriesAreDifferentFiles() async throws {
    _ = try await fetch("plain/Digits.onnx?id=1")
    server.stop()
    #expect(try await !fetch("plain/Digits.onnx?id=1").isNew)
    let error = await failure { () async throws(StoreError) in try await fetch("plain/Digits.onnx?id=2") }
    #expect(error?.code == .network, "\(error as Any)")
  }

  @Test func localFileArrives() async throws {
    let path = server.folder.write(fixture.digits, "a file.onnx")
    let fetched = try await fixture.store.fetch(URL(filePath: path).absoluteString)
    #expect(fixture.bytes(fetched.model) == fixture.digits && fetched.model.name == "a_file")
    #expect(!(try await fixture.store.fetch(path)).isNew)
  }

  @Test func twoRequestsAtOnceShareADownload() async throws {
    let path = "slow/Digits.onnx?pause=0.02#sha256=\(StoreFixture.digest)"
    async let first = fetch(path)
    async let second = fetch(path)
    let both = try await [first, second]
    #expect(both.count(where: \.isNew) == 1 && fixture.requests("slow/Digits.onnx").all == 1)
    #expect(both[0].model.version == both[1].model.version)
  }

  @Test func lockFileDemandsTheFirstContents() async throws {
    let lock = URL(filePath: "\(server.folder.path)/kelvin.lock")
    let address = server.url("versions/Digits.onnx/Other.onnx")
    let first = try await fixture.store.fetch(address, name: "A", lock: lock)
    let error = await failure { () async throws(StoreError) in
      try await fixture.store.fetch(address, name: "B", lock: lock)
    }
    #expect(error?.code == .integrity && error?.description.contains(first.model.sha256) == true, "\(error as Any)")
    server.folder.write("{}", "kelvin.lock")
    let damaged = await failure { () async throws(StoreError) in try await fixture.store.fetch(address, lock: lock) }
    #expect(damaged?.code == .invalid && damaged?.description.contains("kelvin.lock") == true, "\(damaged as Any)")
  }
}
