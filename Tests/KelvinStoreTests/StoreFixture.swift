import FaultyServer
import FoundationEssentials
import Glibc
import KelvinStore
import TestSupport
import Testing

/// A store, and a server with two models: `Digits.onnx`, and `Other.onnx` with other bytes at its end.
final class StoreFixture: Sendable {
  let server = FaultyServer()
  private let folder = TemporaryFolder()
  let digits: [UInt8]
  let other: [UInt8]

  /// The SHA-256 of the models.
  static let digest = "a26c42aaa0936a9f2d9a658888b860d1ec73deb66936f246402b805a774bb613"
  static let otherDigest = "b25502d4c3e5987fe056570fa6f216c7e13f4e65c0fcee9ba97a83f566e9354e"

  init() {
    digits = TemporaryFolder.read("\(SharedFiles.projectRoot)/Examples/Digits/Digits.onnx")
    // The field 2 of an ONNX model is the name of its producer; the last one counts.
    other = digits + [0x12, 3] + Array("new".utf8)
    server.folder.write(digits, "Digits.onnx")
    server.folder.write(other, "Other.onnx")
  }

  var path: String { "\(folder.path)/models" }

  var store: ModelStore { store() }

  /// Opens the store.
  ///
  /// - Parameter change: Changes the limits of downloads.
  func store(_ change: (inout TransferLimits) -> Void = { _ in }) -> ModelStore {
    var limits = TransferLimits()
    change(&limits)
    return ModelStore(at: URL(filePath: path), limits)
  }

  /// Returns the bytes of a stored model's file.
  func bytes(_ model: StoredModel) -> [UInt8] { TemporaryFolder.read(model.url.relativePath) }

  /// The numbers of requests for a path, and those with a range.
  func requests(_ path: String) -> (all: Int, ranges: Int) {
    let found = server.requests.filter { $0.path == "/\(path)" }
    return (found.count, found.count { $0.range != nil })
  }

  /// The files below the store whose names do not belong to complete versions.
  var leftovers: [String] {
    TemporaryFolder.files(path).map { String($0.dropFirst(path.count + 1)) }.filter { file in
      file != ".lock" && (file.hasPrefix(".") || file.contains(".writing-"))
    }
  }
}

/// Returns the error of a request.
func failure(_ body: () async throws(StoreError) -> some Any) async -> StoreError? {
  do throws(StoreError) {
    _ = try await body()
    return nil
  } catch { return error }
}
