import KelvinDevices
import KelvinGraph

/// Files that carry the code of their contents and their name, made with the cache's secret. One that was damaged,
/// exchanged for another or written by anybody else is as good as absent.
extension CacheDirectory {
  private static let reason = "is not what was kept there: it was damaged or changed, and is made anew"

  /// The contents that `writeSealed` put under a name; nil where there are none or they are not to be believed.
  func readSealed(_ name: String) -> Bytes? {
    guard let file = read(name) else { return nil }
    guard let secret = secret(creates: false), let code = file.slice(offset: 0, count: Digest.byteCount),
      let contents = file.slice(offset: code.count, count: file.count - code.count),
      contents.withUnsafeBytes({ bytes in
        code.withUnsafeBytes { CacheSecret.areEqual($0, secret.code(name, [bytes])) }
      })
    else {
      noteDamage(name, Self.reason)
      return nil
    }
    return contents
  }

  /// Puts contents in place behind their code.
  func writeSealed(_ name: String, _ bytes: UnsafeRawBufferPointer) {
    guard let secret = secret(creates: true) else { return }
    secret.code(name, [bytes]).withUnsafeBytes { _ = write(name, [$0, bytes]) }
  }

  /// A JSON object whose first value is the code of the rest, so that it stays a document which other programs read.
  ///
  /// - Returns: nil where the cache has no secret.
  func sealed(document: [UInt8], _ name: String) -> [UInt8]? {
    precondition(document.first == UInt8(ascii: "{"))
    let rest = Array(document.dropFirst())
    return seal(of: rest, name, creates: true).map { Array($0.utf8) + rest }
  }

  /// Whether a document is one that `sealed(document:)` made for this name here.
  func isSealed(document: [UInt8], _ name: String) -> Bool {
    let length = Self.sealText(String(repeating: "0", count: 2 * Digest.byteCount)).utf8.count
    guard document.count > length, let seal = seal(of: Array(document[length...]), name, creates: false) else {
      return false
    }
    return CacheSecret.areEqual(document[..<length], Array(seal.utf8))
  }

  private func seal(of rest: [UInt8], _ name: String, creates: Bool) -> String? {
    secret(creates: creates).map { secret in
      Self.sealText(Digest.text(of: rest.withUnsafeBytes { secret.code(name, [$0]) }))
    }
  }

  private static func sealText(_ code: String) -> String { "{\n  \"seal\" : \"\(code)\"," }
}
