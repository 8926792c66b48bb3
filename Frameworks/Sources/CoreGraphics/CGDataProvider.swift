public import CoreVideo
public import Foundation

/// A function that releases the bytes of a ``CGDataProvider``.
public typealias CGDataProviderReleaseDataCallback =
  @convention(c) (_ info: UnsafeMutableRawPointer?, _ data: UnsafeRawPointer, _ size: Int) -> Void

/// Bytes of an image.
public final class CGDataProvider: Sendable {
  private let bytes: Data

  /// A copy of the bytes.
  public var data: CFData? { bytes as NSData }

  /// Creates a provider of bytes.
  public init?(data: CFData) { bytes = data as Data }

  /// Creates a provider of a file's bytes; nil if the file cannot be read.
  public init?(url: CFURL) {
    guard let bytes = try? Data(contentsOf: url as URL) else { return nil }
    self.bytes = bytes
  }

  /// Creates a provider of a copy of bytes, which are released at once.
  public init?(
    dataInfo info: UnsafeMutableRawPointer?, data: UnsafeRawPointer, size: Int,
    releaseData: CGDataProviderReleaseDataCallback
  ) {
    bytes = Data(bytes: data, count: size)
    releaseData(info, data, size)
  }

  init(_ bytes: [UInt8]) { self.bytes = Data(bytes) }
}
