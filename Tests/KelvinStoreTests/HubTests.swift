import FaultyServer
import FoundationEssentials
import KelvinStore
import TestSupport
import Testing

/// Files of the Hugging Face hub, whose server is named by HF_ENDPOINT.
@Suite(.enabled(if: FaultyServer.isAvailable, "\(FaultyServer.reason)"))
struct HubTests {
  private let fixture = StoreFixture()
  private var server: FaultyServer { fixture.server }

  private func fetch(_ address: String, token: String? = nil) async throws(StoreError) -> FetchedModel {
    let environment = ["HF_ENDPOINT": "http://127.0.0.1:\(server.port)/", "HF_TOKEN": token ?? ""]
    let store = ModelStore(at: URL(filePath: fixture.path), TransferLimits(), environment: environment)
    return try await store.fetch(address)
  }

  @Test func revisionIsPartOfTheAddress() async throws {
    let fetched = try await fetch("hf://owner/digits-small/Digits.onnx@refs/pr/1")
    #expect(fetched.model.name == "digits-small" && fixture.bytes(fetched.model) == fixture.digits)
    #expect(server.requests.first?.path == "/owner/digits-small/resolve/refs%2Fpr%2F1/Digits.onnx")
    _ = try await fetch("hf://owner/digits-small/Digits.onnx#sha256=\(StoreFixture.digest)")
    let error = await failure { () async throws(StoreError) in
      try await fetch("hf://owner/digits-small/Digits.onnx@v9")
    }
    #expect(error?.description.contains("status 404") == true, "\(error as Any)")
  }

  @Test func tokenIsSentToTheHubOnly() async throws {
    let refused = await failure { () async throws(StoreError) in try await fetch("hf://private/digits/Digits.onnx") }
    #expect(refused?.description.contains("HF_TOKEN") == true, "\(refused as Any)")
    _ = try await fetch("hf://private/digits/Digits.onnx", token: "secret")
    #expect(server.requests.map(\.authorization) == [nil, "Bearer secret", nil])
    #expect(server.requests.map { $0.host?.hasPrefix("localhost") } == [false, false, true])
  }
}
