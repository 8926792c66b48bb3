import KelvinDevices
import KelvinGraph

/// Files that contain an authentication code of their contents and name, made with the cache's secret. A file that
/// was damaged, exchanged or written by another user is ignored.
extension CacheDirectory {
  private static let reason = "is not what was saved there: it was damaged or changed, and is made again"

  /// Returns the contents that `writeSealed` stored under a name; nil if they are missing or not trusted.
  func readSealed(_ name: String) -> Bytes? {
    guard let folder = current(creates: false), let file = read(name, in: folder) else { return nil }
    guard let secret = secret(of: folder, creates: false), let code = file.slice(offset: 0, count: Digest.byteCount),
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

  /// Writes contents after their authentication code.
  func writeSealed(_ name: String, _ bytes: UnsafeRawBufferPointer) {
    guard let folder = current(creates: true), let secret = secret(of: folder, creates: true) else { return }
    secret.code(name, [bytes]).withUnsafeBytes { _ = write(name, [$0, bytes], in: folder) }
  }

  /// Writes a JSON object whose first value is the authentication code of the rest, so that other programs can still
  /// read the document.
  func writeSealed(document: [UInt8], _ name: String) {
    precondition(document.first == UInt8(ascii: "{"))
    guard let folder = current(creates: true), let secret = secret(of: folder, creates: true) else { return }
    let rest = Array(document.dropFirst())
    (Array(Self.seal(of: rest, name, secret).utf8) + rest).withUnsafeBytes { _ = write(name, [$0], in: folder) }
  }

  /// Whether `writeSealed(document:)` made this document for this name.
  func isSealed(document: [UInt8], _ name: String) -> Bool {
    let length = Self.sealText(String(repeating: "0", count: 2 * Digest.byteCount)).utf8.count
    guard document.count > length, let folder = current(creates: false),
      let secret = secret(of: folder, creates: false)
    else { return false }
    let seal = Self.seal(of: Array(document[length...]), name, secret)
    return CacheSecret.areEqual(document[..<length], Array(seal.utf8))
  }

  private static func seal(of rest: [UInt8], _ name: String, _ secret: CacheSecret) -> String {
    sealText(Digest.text(of: rest.withUnsafeBytes { secret.code(name, [$0]) }))
  }

  private static func sealText(_ code: String) -> String { "{\n  \"seal\" : \"\(code)\"," }
}
