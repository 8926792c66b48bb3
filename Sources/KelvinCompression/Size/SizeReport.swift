package import Kelvin
import KelvinBasics
import KelvinGraph
import KelvinImport

/// The size of a model: to download, on disk, in memory, and of each of its tensors.
package struct SizeReport: Sendable {
  /// Bytes of a file that are not a tensor's.
  package struct Rest: Hashable, Sendable {
    package let name: String
    package let file: String
    package let byteCount: Int
  }

  /// A copy that `kelvin compress` could write.
  package struct Copy: Hashable, Sendable {
    package let form: WeightForm
    package let byteCount: Int
  }

  /// The path of the model.
  package let model: String
  package let format: String
  package let formatVersion: Int
  package let files: [ShippedFile]
  /// In descending order of bytes.
  package let tensors: [ShippedTensor]
  /// In descending order of bytes. Together with the tensors, they are all bytes of the files.
  package let rest: [Rest]
  /// The copies with all weights in one form; empty if `kelvin compress` does not take the model.
  package let copies: [Copy]
  package var download: DownloadSize?
  package var memory: ShippedMemory?

  /// The bytes of all files.
  package var byteCount: Int { files.reduce(0) { $0 + $1.byteCount } }
  package var tensorByteCount: Int { tensors.reduce(0) { $0 + $1.byteCount } }

  /// Reads the sizes of a model's files and tensors.
  ///
  /// - Parameters:
  ///   - read: The model.
  ///   - allowsLinks: Whether links among the model's files are followed.
  /// - Throws: `ModelError` with code `io` for a file that cannot be read or is damaged, `unsupported` for a model in a
  ///   ZIP file.
  package init(of read: ReadModel, allowsLinks: Bool) throws(ModelError) {
    let source = read.program.source
    (model, format, formatVersion) = (source.path, source.format.rawValue, source.version)
    (files, tensors) = try ModelCompressor.wrapping { () throws(FormatError) in
      let files = try ShippedFile.list(of: source, allowsLinks: allowsLinks)
      return (files, try Self.tensors(of: source, files, allowsLinks).sorted { $0.byteCount > $1.byteCount })
    }
    rest = Self.rest(of: files, without: tensors, hasRecords: source.format != .onnx).sorted {
      $0.byteCount > $1.byteCount
    }
    // Other models are refused, which is not an error of this report.
    let compressor = try? ModelCompressor(contentsOf: read.url, allowsLinks: allowsLinks)
    copies = compressor.map(Self.copies) ?? []
  }

  /// Returns the sizes of copies with one form. Palettes of a program take long to make, so that their sizes are
  /// computed.
  private static func copies(_ compressor: ModelCompressor) -> [Copy] {
    compressor.candidates(system: 16).compactMap { form in
      guard compressor.system == nil else {
        return Copy(form: form, byteCount: compressor.estimatedByteCount(form))
      }
      let byteCount = try? compressor.byteCount(compressor.weights.map { _ in form })
      return byteCount.flatMap { $0 < compressor.byteCount ? Copy(form: form, byteCount: $0) : nil }
    }
  }

  /// Compresses the files as archives, to know the bytes of a download.
  ///
  /// - Parameter progress: Called with the fraction of the work done.
  /// - Throws: `ModelError` with code `io` for a file that cannot be read.
  package mutating func measureDownload(progress: (Double) -> Void = { _ in }) throws(ModelError) {
    let isFolder = FileKind(model) == .folder
    download = try ModelCompressor.wrapping { () throws(FormatError) in
      try DownloadSize(of: files, in: isFolder ? model.lastPathPart : "", progress: progress)
    }
  }

  private static func tensors(
    of source: ModelSource, _ files: [ShippedFile], _ allowsLinks: Bool
  ) throws(FormatError) -> [ShippedTensor] {
    let endings = ["mlmodel", "mil", "onnx"]
    let main = source.files.first { path in endings.contains { path.hasExtension($0) } } ?? source.path
    guard let file = files.first(where: { ExactString($0.path) == ExactString(main) }) ?? files.first else { return [] }
    let bytes: Bytes
    do throws(FileError) { bytes = try Bytes(mapping: file.path) } catch { throw FormatError(error) }
    guard !ModelArchive.recognizes(bytes) else {
      throw FormatError(
        .unsupported, file: source.path.lastPathPart, "it is an archive, whose tensors are compressed",
        remedy: "unpack it first, and name the model in it")
    }
    let weights = WeightFiles(folder: file.path.parentPath, allowsLinks: allowsLinks)
    if source.format == .onnx {
      return try ONNXTensors(WireMessage(bytes, file: file.name), file: file.name, files: files).list.tensors
    }
    if file.name.hasExtension("mil") { return try CompiledConstants(bytes, weights, program: file.name).list.tensors }
    return try CoreMLWeights(WireMessage(bytes, file: file.name), weights, file: file.name).list.tensors
  }

  /// Returns the bytes of the files that belong to no tensor.
  ///
  /// - Parameter hasRecords: Whether tensors in other files than the model's have records, as in Core ML's weight files.
  private static func rest(
    of files: [ShippedFile], without tensors: [ShippedTensor], hasRecords: Bool
  ) -> [Rest] {
    let parts = Dictionary(grouping: tensors.flatMap(\.parts), by: \.file)
    return files.flatMap { file -> [Rest] in
      let inside = parts[ExactString(file.name)] ?? []
      let left = file.byteCount - inside.reduce(0) { $0 + $1.byteCount }
      var rest = [(name: file.name.lastPathPart, bytes: left)]
      if ["mlmodel", "onnx", "mil"].contains(where: { file.name.hasExtension($0) }) {
        rest[0].name = "structure and metadata"
      } else if !inside.isEmpty {
        // A weight file has a header, and for each tensor a record and the bytes up to the next multiple of 64.
        let records = inside.reduce(64) { $0 + WeightFile.byteCount(of: $1.byteCount) - $1.byteCount }
        let headers = hasRecords ? min(records, left) : 0
        rest = [("record headers and padding", headers), ("unused bytes", left - headers)]
      }
      return rest.filter { $0.bytes > 0 }.map { Rest(name: $0.name, file: file.name, byteCount: $0.bytes) }
    }
  }
}
