import CKelvinCrypto
public import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
public import KelvinFeatures

/// A key that encrypts models: 32 secret bytes.
///
/// The bytes are overwritten when the last reference to the key goes. Copies that the caller made, such as the `Data`
/// that the key was created from, are not.
public final class ModelKey: Sendable {
  /// The number of bytes of a key.
  public static let byteCount = Int(KELVIN_KEY_SIZE)

  private let bytes: SecretBytes

  /// Creates a key from its bytes.
  ///
  /// - Parameter bytes: 32 bytes, or their 64 hexadecimal digits as text; space around the digits is ignored.
  /// - Throws: `ModelError` with code `parameters` for anything else.
  public convenience init(_ bytes: Data) throws(ModelError) {
    do throws(PackagingError) { try self.init(file: [UInt8](bytes)) } catch {
      throw ModelError(.parameters, error.description)
    }
  }

  /// Creates a new key from the system's source of random numbers.
  ///
  /// - Throws: `ModelError` with code `generic` if the system has no random numbers.
  public static func random() throws(ModelError) -> ModelKey {
    let secret = SecretBytes()
    guard kelvin_random(secret.all, byteCount) else { throw ModelError(.generic, "the system gives no random numbers") }
    return ModelKey(secret)
  }

  private init(_ secret: SecretBytes) { bytes = secret }

  /// Creates a key from the contents of its file, which are overwritten here.
  ///
  /// - Throws: `PackagingError` with code `key`.
  convenience init(file contents: consuming [UInt8]) throws(PackagingError) {
    var contents = contents
    var digits = contents.count == Self.byteCount ? contents : KeyText.hexadecimal(contents) ?? []
    defer {
      contents.withUnsafeMutableBytes { $0.wipe() }
      digits.withUnsafeMutableBytes { $0.wipe() }
    }
    guard digits.count == Self.byteCount else {
      throw PackagingError(
        .key,
        "expected a key of \(Self.byteCount) bytes or \(2 * Self.byteCount) hexadecimal digits, got \(contents.count) bytes; "
          + "'kelvin encrypt --generate-key' makes one")
    }
    let secret = SecretBytes()
    memcpy(secret.all, digits, Self.byteCount)
    self.init(secret)
  }

  /// Calls `body` with the bytes of the key.
  func withBytes<Value>(_ body: (UnsafePointer<UInt8>) -> Value) -> Value { body(bytes.all) }

  /// Writes the key to a new file that only its owner can read, as hexadecimal digits.
  ///
  /// - Throws: `PackagingError` with code `io` if the file exists or cannot be written.
  package func write(to path: String) throws(PackagingError) {
    let descriptor = open(path.pathBytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw PackagingError(FileError(path: path, action: "create", code: errno)) }
    defer { close(descriptor) }
    var text = KeyText.digits(of: UnsafeBufferPointer(start: bytes.all, count: Self.byteCount))
    defer { text.withUnsafeMutableBytes { $0.wipe() } }
    text.append(0x0A)
    guard Glibc.write(descriptor, text, text.count) == text.count, fsync(descriptor) == 0 || errno == EINVAL else {
      let code = errno
      unlink(path.pathBytes)
      throw PackagingError(FileError(path: path, action: "write", code: code))
    }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Overwrites the bytes with zeros.
  func wipe() {
    if let baseAddress { kelvin_wipe(baseAddress, count) }
  }
}

/// The memory of a key, overwritten when it is freed.
final class SecretBytes: @unchecked Sendable {
  // Written before the object is shared, and read only afterwards.
  let all = UnsafeMutablePointer<UInt8>.allocate(capacity: Int(KELVIN_KEY_SIZE))

  deinit {
    kelvin_wipe(all, Int(KELVIN_KEY_SIZE))
    all.deallocate()
  }
}
