import CKelvinCodecs
import Glibc
import KelvinBasics

/// A kind of compression.
enum StreamCodec {
  /// RFC 1952. A file may have several streams, one after the other.
  case gzip
  /// RFC 1951, one stream.
  case deflate
  /// RFC 8878. A file may have several frames, one after the other.
  case zstd

  var kind: kelvin_codec_kind {
    switch self {
    case .gzip: KELVIN_GZIP
    case .deflate: KELVIN_RAW_DEFLATE
    case .zstd: KELVIN_ZSTD
    }
  }

  /// Returns the error for a codec that could not be created.
  ///
  /// - Parameter reason: the cause; nil if memory is short.
  static func unavailable(_ reason: UnsafePointer<CChar>?, file: String) -> PackagingError {
    guard let reason else { return PackagingError(FileError(path: file, action: "compress or unpack", code: ENOMEM)) }
    let words = String(cString: reason)
    // The dynamic loader's message has the system's words if the library is not installed.
    let isAbsent = words.contains(String(cString: strerror(ENOENT)))
    return PackagingError(
      .libraryMissing,
      "'\(file)' needs Zstandard, which is not available: \(words)"
        + (isAbsent ? "; install it: apt install libzstd1" : ""))
  }
}

/// Memory for a piece of a file.
final class PieceBuffer {
  let all = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 17, alignment: 64)
  deinit { all.deallocate() }
}

/// A part of a file, decompressed while it is read.
final class DecodedStream {
  private let file: OpenFile
  private let codec: StreamCodec?
  private let decoder: OpaquePointer?
  private var next: Int
  private let end: Int
  private let buffer = PieceBuffer()
  /// The part of the buffer that the decoder has not taken.
  private var rest: UnsafeRawBufferPointer
  /// Whether the last stream or frame is complete.
  private var hasEnded = false

  /// - Parameters:
  ///   - codec: the compression; nil for none.
  ///   - range: the bytes of the file; nil for all.
  /// - Throws: `PackagingError` with code `libraryMissing`, or `io` without memory.
  init(_ file: OpenFile, _ codec: StreamCodec?, range: Range<Int>? = nil) throws(PackagingError) {
    (self.file, self.codec) = (file, codec)
    (next, end) = (range?.lowerBound ?? 0, range?.upperBound ?? file.byteCount)
    rest = UnsafeRawBufferPointer(start: nil, count: 0)
    var reason: UnsafePointer<CChar>?
    decoder = codec.flatMap { kelvin_decoder_create($0.kind, &reason) }
    if codec != nil, decoder == nil { throw StreamCodec.unavailable(reason, file: file.path) }
  }

  deinit { kelvin_codec_destroy(decoder) }

  /// Reads up to `target.count` bytes, at least one unless the contents have ended.
  ///
  /// - Throws: `PackagingError` with code `malformed` for contents that are damaged or cut short.
  func read(into target: UnsafeMutableRawBufferPointer) throws(PackagingError) -> Int {
    guard let decoder else {
      let part = UnsafeMutableRawBufferPointer(rebasing: target.prefix(end - next))
      try PackagingError.wrapping { () throws(FileError) in try file.read(into: part, at: next) }
      next += part.count
      return part.count
    }
    var piece = kelvin_codec_piece()
    (piece.output, piece.output_count) = (target.baseAddress, target.count)
    while piece.output_count == target.count {
      if rest.isEmpty { try refill() }
      if hasEnded, rest.isEmpty { return 0 }
      if hasEnded, codec == .deflate { throw damaged("it has bytes after the end of its contents") }
      (piece.input, piece.input_count) = (rest.baseAddress, rest.count)
      let status = kelvin_codec_run(decoder, &piece, false)
      let taken = rest.count - piece.input_count
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(taken))
      switch status {
      case KELVIN_CODEC_END: hasEnded = true
      case KELVIN_CODEC_MORE:
        hasEnded = false
        guard taken > 0 || piece.output_count < target.count else { throw damaged("it is cut short") }
      case KELVIN_CODEC_NO_MEMORY: throw StreamCodec.unavailable(nil, file: file.path)
      default: throw damaged("its compressed bytes are damaged")
      }
    }
    return target.count - piece.output_count
  }

  private func refill() throws(PackagingError) {
    let part = UnsafeMutableRawBufferPointer(rebasing: buffer.all.prefix(end - next))
    try PackagingError.wrapping { () throws(FileError) in try file.read(into: part, at: next) }
    next += part.count
    rest = UnsafeRawBufferPointer(part)
  }

  private func damaged(_ reason: String) -> PackagingError { .damaged(file.path, reason) }
}

extension PackagingError {
  /// Returns the error for a damaged archive.
  ///
  /// - Parameter entry: the file in the archive; nil for the archive itself.
  static func damaged(_ archive: String, _ reason: String, entry: String? = nil) -> PackagingError {
    PackagingError(
      .malformed,
      "archive '\(archive.lastPathPart)'\(entry.map { ", '\($0)'" } ?? ""): \(reason); download the archive again")
  }

  /// Returns the error for an archive that is not unpacked because it could harm.
  static func refused(_ archive: String, _ reason: String, entry: String? = nil) -> PackagingError {
    PackagingError(
      .refused,
      "archive '\(archive.lastPathPart)'\(entry.map { ", '\($0)'" } ?? ""): \(reason); nothing is unpacked")
  }
}
