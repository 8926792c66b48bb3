import CKelvinCrypto
import FoundationEssentials
import Glibc
import KelvinBasics

/// Keys of Ed25519 (RFC 8032) and their files.
///
/// A key is 32 bytes. A file has these bytes, or as text: 64 hexadecimal digits, Base64, or the PEM form that
/// `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write (RFC 8410).
package enum SigningKeys {
  private static let byteCount = Int(KELVIN_KEY_SIZE)
  /// The bytes before the key in a PKCS #8 document and in a document of a public key.
  private static let privateHead: [UInt8] = [
    0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
  ]
  private static let publicHead: [UInt8] = [
    0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
  ]

  /// Returns a public key.
  ///
  /// - Parameter file: the key's 32 bytes, or the contents of its file.
  /// - Throws: `PackagingError` with code `key`.
  package static func publicKey(_ file: [UInt8]) throws(PackagingError) -> [UInt8] {
    try key(file, label: "PUBLIC KEY", publicHead, remedy: "openssl pkey -in private.pem -pubout -out public.pem")
  }

  /// Returns a private key.
  ///
  /// - Parameter file: the key's 32 bytes, or the contents of its file.
  /// - Throws: `PackagingError` with code `key`.
  package static func privateKey(_ file: [UInt8]) throws(PackagingError) -> [UInt8] {
    try key(file, label: "PRIVATE KEY", privateHead, remedy: "openssl genpkey -algorithm ed25519 -out private.pem")
  }

  /// Returns the public key of a private one.
  package static func publicKey(of privateKey: [UInt8]) throws(PackagingError) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: byteCount)
    guard privateKey.count == byteCount, kelvin_ed25519_public(privateKey, &key) else {
      throw PackagingError(.key, "the public key cannot be computed")
    }
    return key
  }

  /// Returns the signature of bytes.
  package static func sign(_ bytes: [UInt8], with privateKey: [UInt8]) throws(PackagingError) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: ManifestSignatures.byteCount)
    guard privateKey.count == byteCount, kelvin_ed25519_sign(privateKey, bytes, bytes.count, &signature) else {
      throw PackagingError(.key, "the signature cannot be computed")
    }
    return signature
  }

  private static func key(
    _ file: [UInt8], label: String, _ head: [UInt8], remedy: String
  ) throws(PackagingError) -> [UInt8] {
    if file.count == byteCount { return file }
    let text = String(decoding: file.prefix(4096), as: UTF8.self)
    let found = text.contains("-----") ? pem(text, label) : KeyText.hexadecimal(text.utf8) ?? base64(text)
    if let found, found.count == byteCount { return found }
    if let found, found.count == head.count + byteCount, found.starts(with: head) {
      return Array(found.suffix(byteCount))
    }
    throw PackagingError(
      .key,
      "expected an Ed25519 \(label.lowercased()): 32 bytes, 64 hexadecimal digits, Base64 or a PEM file; make it with: "
        + remedy)
  }

  private static func pem(_ text: String, _ label: String) -> [UInt8]? {
    let lines = text.split(whereSeparator: \.isNewline)
    guard let begin = lines.firstIndex(of: "-----BEGIN \(label)-----"),
      let end = lines.firstIndex(of: "-----END \(label)-----"), begin < end
    else { return nil }
    return base64(lines[begin + 1..<end].joined())
  }

  private static func base64(_ text: String) -> [UInt8]? {
    Data(base64Encoded: text.filter { !$0.isWhitespace }).map { [UInt8]($0) }
  }
}

/// Keys as text.
enum KeyText {
  /// Returns the bytes of hexadecimal digits; nil for other text. Space around them is ignored.
  static func hexadecimal(_ text: some Sequence<UInt8>) -> [UInt8]? {
    let digits = Array(text.drop { $0 <= 0x20 }.reversed().drop { $0 <= 0x20 }.reversed())
    let values = digits.compactMap { digit -> UInt8? in
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
      default: nil
      }
    }
    guard values.count == digits.count, values.count % 2 == 0 else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }

  /// Returns bytes as lower-case hexadecimal digits.
  static func digits(of bytes: some Sequence<UInt8>) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
  }
}

/// The signatures of a manifest: the newest first, and those of earlier manifests.
struct ManifestSignatures {
  static let byteCount = Int(KELVIN_SIGNATURE_SIZE)
  /// The most signatures in a file.
  static let most = 8

  let all: [[UInt8]]

  /// - Throws: `PackagingError` with code `signature` for bytes that are not signatures.
  init(_ bytes: [UInt8]) throws(PackagingError) {
    guard !bytes.isEmpty, bytes.count % Self.byteCount == 0, bytes.count <= Self.most * Self.byteCount else {
      throw PackagingError(
        .signature,
        "the manifest's signature has \(bytes.count) bytes, expected \(Self.byteCount) for each of at most \(Self.most) "
          + "signatures")
    }
    all = stride(from: 0, to: bytes.count, by: Self.byteCount).map { Array(bytes[$0..<$0 + Self.byteCount]) }
  }

  /// - Throws: `PackagingError` with code `signature` if no signature belongs to the bytes and the key.
  func verify(_ bytes: [UInt8], key: [UInt8]) throws(PackagingError) {
    guard all.contains(where: { kelvin_ed25519_verify(key, bytes, bytes.count, $0) }) else {
      throw PackagingError(
        .signature,
        "the manifest is not signed by the expected key: it was changed, or another key signed it; compare the key "
          + "with the publisher's")
    }
  }
}
