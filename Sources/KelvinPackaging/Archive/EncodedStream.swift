import CKelvinCodecs
import Glibc
import Kelvin
import KelvinBasics

/// A file that is compressed while it is written.
final class EncodedStream {
  private let file: AtomicFileWriter
  private let path: String
  private let encoder: OpaquePointer
  private static let pieceSize = 1 << 17

  /// - Parameter path: the name of the file in errors.
  /// - Throws: `PackagingError` with code `libraryMissing`, or `io` without memory.
  init(_ file: AtomicFileWriter, _ codec: StreamCodec, path: String) throws(PackagingError) {
    (self.file, self.path) = (file, path)
    var reason: UnsafePointer<CChar>?
    // Weights hardly shrink, so that the highest levels cost time for little.
    guard let encoder = kelvin_encoder_create(codec.kind, codec == .zstd ? 15 : 6, &reason) else {
      throw StreamCodec.unavailable(reason, file: path)
    }
    self.encoder = encoder
  }

  deinit { kelvin_codec_destroy(encoder) }

  /// - Returns: the number of bytes that were written to the file.
  @discardableResult
  func write(_ bytes: [UInt8], isLast: Bool = false) throws(PackagingError) -> Int {
    var (offset, written, hasEnded) = (0, 0, false)
    while offset < bytes.count || (isLast && !hasEnded) {
      var status = KELVIN_CODEC_MORE
      let encoded = [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { target, count in
        bytes.withUnsafeBytes { bytes in
          var piece = kelvin_codec_piece(
            input: bytes.baseAddress.map { $0 + offset }, input_count: bytes.count - offset,
            output: target.baseAddress, output_count: Self.pieceSize)
          status = kelvin_codec_run(encoder, &piece, isLast)
          offset = bytes.count - piece.input_count
          count = Self.pieceSize - piece.output_count
        }
      }
      guard status == KELVIN_CODEC_MORE || status == KELVIN_CODEC_END else {
        throw StreamCodec.unavailable(nil, file: path)
      }
      hasEnded = status == KELVIN_CODEC_END
      try PackagingError.wrapping { () throws(FileError) in try file.write(encoded) }
      written += encoded.count
    }
    return written
  }
}
