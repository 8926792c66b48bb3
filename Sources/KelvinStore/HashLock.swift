import Glibc
import Kelvin
import KelvinBasics

/// A file that keeps the SHA-256 of the contents of URLs, for a project whose models must not change unnoticed.
struct HashLock {
  private struct Document: Codable {
    var format = "kelvin-lock"
    var version = 1
    var models: [Entry] = []
  }

  private struct Entry: Codable {
    /// The URL without secrets, for readers.
    var url: String
    /// The SHA-256 of the whole URL.
    var address: String
    var sha256: String
  }

  private let path: String
  private let document: Document

  /// Reads the file, which need not exist.
  ///
  /// - Throws: `io` if it cannot be read, `invalid` if it is not such a file.
  init(at path: String) throws(StoreError) {
    self.path = path
    guard access(path.pathBytes, F_OK) == 0 else {
      document = Document()
      return
    }
    do {
      document = try JSONText.decode(Document.self, from: try LocalFile.read(path))
    } catch { throw StoreError(.invalid, "'\(path)' is not a file of hashes: \(error)") }
    guard document.format == "kelvin-lock", document.version == 1,
      document.models.allSatisfy({ ModelAddress.isDigest($0.sha256) })
    else { throw StoreError(.invalid, "'\(path)' is not a file of hashes, which 'kelvin fetch --lock' writes") }
  }

  func sha256(of address: ModelAddress) -> String? {
    document.models.first { $0.address == address.identity }?.sha256
  }

  /// Adds the hash of a URL, if the file does not have it.
  func keep(_ sha256: String, of address: ModelAddress) throws(StoreError) {
    guard self.sha256(of: address) == nil else { return }
    var changed = document
    changed.models.append(Entry(url: address.source, address: address.identity, sha256: sha256))
    try StoreDocument.write(changed, to: path)
  }
}
