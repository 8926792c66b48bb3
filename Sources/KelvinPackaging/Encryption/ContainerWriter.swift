import CKelvinCrypto
import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
package import KelvinFeatures
import KelvinGraph
import KelvinImport

/// Encrypts models.
package enum ModelEncryption {
  /// The number of plain bytes of a chunk.
  static let chunkByteCount = 1 << 16

  /// The ending of the names of encrypted models.
  package static let ending = "kelvinmodel"

  /// Writes an encrypted copy of a model, which appears when it is complete.
  ///
  /// - Parameters:
  ///   - model: an `.mlpackage` folder, or an `.mlmodel` or `.onnx` file and the files that it refers to.
  ///   - path: the file to write, which must not exist.
  /// - Returns: the number of bytes of the copy.
  /// - Throws: `ModelError` with code `io` if the model cannot be read or the copy cannot be written, `unsupported` for
  ///   a kind of model that cannot be loaded from memory.
  package static func encrypt(
    _ model: String, to path: String, key: ModelKey, allowsLinks: Bool = false
  ) throws(ModelError) -> Int {
    let files = try ModelParts(model, allowsLinks: allowsLinks)
    do throws(PackagingError) {
      guard FileKind(path) == .absent else {
        throw PackagingError(FileError(path: path, action: "write", code: EEXIST))
      }
      let writer = try PackagingError.wrapping { () throws(FileError) in try AtomicFileWriter(path) }
      defer { writer.abandon() }
      let count = try write(files.all, chunkByteCount: chunkByteCount, key: key) { (bytes) throws(PackagingError) in
        try PackagingError.wrapping { () throws(FileError) in try writer.write(bytes) }
      }
      try PackagingError.wrapping { () throws(FileError) in try writer.finish() }
      return count
    } catch { throw error.modelError }
  }

  /// Encrypts files.
  ///
  /// - Parameters:
  ///   - files: the model with an empty path, and the files by their paths relative to it.
  ///   - put: takes the bytes of the container in order.
  static func write(
    _ files: [(path: String, bytes: Bytes)], chunkByteCount: Int, key: ModelKey,
    _ put: ([UInt8]) throws(PackagingError) -> Void
  ) throws(PackagingError) -> Int {
    let table = ModelContainer.table(files.map { ModelContainer.File(path: $0.path, byteCount: $0.bytes.count) })
    let container = try ModelContainer(tableByteCount: table.count, chunkByteCount: chunkByteCount)
    let own = try container.key(key)
    var count = container.header.count
    try put(container.header)
    for (index, bytes) in ([Bytes(table)] + files.map(\.bytes)).enumerated() {
      let chunks = container.chunkCount(bytes.count)
      for chunk in 0..<chunks {
        let place = ModelContainer.place(stream: index, chunk: chunk, isLast: chunk == chunks - 1)
        let start = chunk * chunkByteCount
        guard let sealed = seal(bytes, start..<min(start + chunkByteCount, bytes.count), place, own) else {
          throw PackagingError(.io, "the model cannot be encrypted, memory may be short")
        }
        try put(sealed)
        count += sealed.count
      }
    }
    return count
  }

  private static func seal(_ bytes: Bytes, _ range: Range<Int>, _ place: [UInt8], _ key: SecretBytes) -> [UInt8]? {
    var isDone = false
    let sealed = [UInt8](unsafeUninitializedCapacity: range.count + ModelContainer.tagByteCount) { target, count in
      isDone = bytes.withUnsafeBytes { plain in
        guard let base = target.baseAddress else { return false }
        return kelvin_gcm_seal(
          key.all, place, place, place.count, plain.baseAddress.map { $0 + range.lowerBound }, range.count, base,
          base + range.count)
      }
      count = isDone ? range.count + ModelContainer.tagByteCount : 0
    }
    return isDone ? sealed : nil
  }
}

/// The files of a model that is loaded from memory.
struct ModelParts {
  /// The model with an empty path, and the files by their paths relative to it.
  let all: [(path: String, bytes: Bytes)]

  /// Reads the files of a model, and checks that the model can be loaded from them.
  init(_ path: String, allowsLinks: Bool) throws(ModelError) {
    let read = try ReadModel(contentsOf: URL(filePath: path), allowsLinks: allowsLinks, isolation: .none)
    let source = read.program.source
    let files = source.files.filter { $0.lastPathPart != "Manifest.json" }
    guard let model = files.first, FileKind(model) == .file else {
      throw ModelError(
        .unsupported, "'\(path)' cannot be encrypted; expected an .mlpackage folder, or an .mlmodel or .onnx file")
    }
    let prefix = model.parentPath.appendingPath("")
    var all: [(path: String, bytes: Bytes)] = []
    for file in files {
      let bytes: Bytes
      do throws(FileError) { bytes = try Bytes(mapping: file) } catch { throw PackagingError(error).modelError }
      guard file.utf8.count != model.utf8.count || file != model else {
        all.insert(("", bytes), at: 0)
        continue
      }
      guard file.utf8.starts(with: prefix.utf8) || !model.utf8.contains(UInt8(ascii: "/")) else {
        throw ModelError(.unsupported, "'\(path)' has the file '\(file)' outside of the model's folder; move it there")
      }
      let relative =
        model.utf8.contains(UInt8(ascii: "/")) ? String(Substring(file.utf8.dropFirst(prefix.utf8.count))) : file
      all.append((relative, bytes))
    }
    self.all = all
    // A model of several models, or of another kind, cannot be loaded from memory.
    do throws(ModelError) { _ = try ReadModel(asset(URL(filePath: path))) } catch {
      throw ModelError(
        error.code, "'\(path)' cannot be encrypted, because it cannot be loaded from memory: \(error.description)")
    }
  }

  private func asset(_ url: URL) throws(ModelError) -> ModelAsset {
    try ModelAsset(
      decrypted: all.map { part in (part.path, part.bytes.withUnsafeBytes { Data($0) }) }, from: url)
  }
}
