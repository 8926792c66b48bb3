import CKelvinCodecs
import KelvinBasics
import KelvinGraph
import KelvinImport

/// The bytes of a model's files as archives: as a ZIP file, whose files are compressed one by one with DEFLATE, and as a
/// tar file that Zstandard compresses.
package struct DownloadSize: Hashable, Sendable {
  /// The bytes of the ZIP file.
  package var zip: Int
  /// The bytes of the `.tar.zst` file; nil if the library is missing.
  package var zstd: Int?
  /// The reason why the library cannot be used.
  package var missing: String?

  /// The usual level of DEFLATE, and the highest of Zstandard that every reader has the memory for.
  package static let (deflateLevel, zstdLevel): (Int32, Int32) = (6, 19)
  private static let pieceSize = 1 << 20

  /// Compresses the files, and keeps only the number of bytes.
  ///
  /// - Parameters:
  ///   - files: The files of a model.
  ///   - folder: The name of the model's folder in the archive; empty for a model without one.
  ///   - progress: Called with the fraction of the work done.
  /// - Throws: `FormatError` with code `unreadable` for a file that cannot be read.
  init(
    of files: [ShippedFile], in folder: String, progress: (Double) -> Void
  ) throws(FormatError) {
    let total = max(1, files.reduce(0) { $0 + $1.byteCount })
    let prefix = folder.isEmpty ? "" : "\(folder)/"
    // The end of a ZIP file's directory.
    zip = 22
    var reason: String?
    let archive = CompressedCount(KELVIN_ZSTD, level: Self.zstdLevel, reason: &reason)
    missing = archive == nil ? reason ?? "memory is short" : nil
    var done = 0
    for file in files {
      let contents: Bytes
      do throws(FileError) { contents = try Bytes(mapping: file.path) } catch { throw FormatError(error) }
      let deflated = CompressedCount(KELVIN_RAW_DEFLATE, level: Self.deflateLevel, reason: &reason)
      let name = prefix + file.name
      archive?.add(Self.tarHeader(name, contents.count))
      contents.withUnsafeBytes { bytes in
        for start in stride(from: 0, to: bytes.count, by: Self.pieceSize) {
          let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(bytes.count, start + Self.pieceSize)])
          deflated?.add(piece)
          archive?.add(piece)
          done += piece.count
          progress(Double(done) / Double(total))
        }
      }
      archive?.add([UInt8](repeating: 0, count: (512 - contents.count % 512) % 512))
      // A header before the file, and an entry of the directory. A file that does not shrink is stored.
      let packed = deflated?.finish() ?? contents.count
      zip += min(packed, contents.count) + 30 + 46 + 2 * name.utf8.count
    }
    archive?.add([UInt8](repeating: 0, count: 1024))
    zstd = archive?.finish()
  }

  /// Returns the header of a file in a tar archive, without the owner and the times.
  private static func tarHeader(_ name: String, _ byteCount: Int) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: 512)
    func write(_ text: some Collection<UInt8>, at offset: Int) {
      for (index, byte) in text.enumerated() where offset + index < 512 { header[offset + index] = byte }
    }
    write(name.utf8.suffix(100), at: 0)
    write("0000644".utf8, at: 100)
    write(String(byteCount, radix: 8).utf8.suffix(11), at: 124)
    write("0ustar".utf8, at: 156)
    return header
  }
}

/// Counts the bytes of a compressed stream.
private final class CompressedCount {
  private let codec: OpaquePointer
  private var byteCount = 0
  private static let room = 1 << 16

  /// - Parameter reason: Set if the library cannot be used.
  /// - Returns: Nil without memory, or if the library cannot be used.
  init?(_ kind: kelvin_codec_kind, level: Int32, reason: inout String?) {
    var why: UnsafePointer<CChar>?
    guard let codec = kelvin_encoder_create(kind, level, &why) else {
      reason = why.map { String(cString: $0) }
      return nil
    }
    self.codec = codec
  }

  deinit { kelvin_codec_destroy(codec) }

  func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }
  func add(_ bytes: UnsafeRawBufferPointer) { run(bytes, isLast: false) }

  /// Ends the stream.
  ///
  /// - Returns: The number of bytes of the stream.
  func finish() -> Int {
    run(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
    return byteCount
  }

  private func run(_ bytes: UnsafeRawBufferPointer, isLast: Bool) {
    withUnsafeTemporaryAllocation(byteCount: Self.room, alignment: 16) { room in
      var piece = kelvin_codec_piece(
        input: bytes.baseAddress, input_count: bytes.count, output: room.baseAddress, output_count: room.count)
      while piece.input_count > 0 || isLast {
        (piece.output, piece.output_count) = (room.baseAddress, room.count)
        let status = kelvin_codec_run(codec, &piece, isLast)
        byteCount += room.count - piece.output_count
        if status != KELVIN_CODEC_MORE { break }
      }
    }
  }
}
