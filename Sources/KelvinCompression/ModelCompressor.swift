public import FoundationEssentials
public import Kelvin
import KelvinBasics
import KelvinGraph
import KelvinImport
import Synchronization

/// Writes copies of an ML Program with smaller weights.
///
/// A weight is a constant of float16 or float32 numbers. The copy is a Core ML package for iOS 16 or later: a palette
/// is `constexpr_lut_to_dense`, int8 is `constexpr_affine_dequantize`.
///
/// ```swift
/// let compressor = try ModelCompressor(contentsOf: URL(filePath: "MobileNetV2.mlpackage"))
/// let forms = compressor.weights.map { _ in WeightForm.palette(bits: 6) }
/// try compressor.write(forms, to: URL(filePath: "Small.mlpackage"))
/// ```
public struct ModelCompressor: Sendable {
  /// A weight that other forms make smaller.
  public struct Weight: Hashable, Sendable {
    /// The name of the constant in the program.
    public let name: String
    /// The size of each dimension, outermost first.
    public let shape: [Int]
    /// The number of bytes in the file.
    public let byteCount: Int
    /// The number of elements.
    public var count: Int { shape.reduce(1, *) }
  }

  /// The result of storing a weight in a form.
  public struct Coding: Hashable, Sendable {
    /// The form.
    public let form: WeightForm
    /// The number of bytes in the weight file: of elements, tables and scales, each with its record.
    public let byteCount: Int
    /// The sum of squared differences from the original, divided by the sum of squares of the original.
    public let relativeError: Double
  }

  /// The weights with at least ``leastCount`` elements, in the program's order.
  public let weights: [Weight]
  /// The number of bytes of the model's files.
  public let byteCount: Int
  /// The least number of elements of a weight that is worth another form.
  public static let leastCount = 2048

  private let tensors: [StoredTensor]
  private let cache = CompressedWeights()
  private let model: WireMessage
  private let files: WeightFiles

  /// Reads a model.
  ///
  /// - Throws: `ModelError` with code `io` if the file cannot be read, `unsupported` if it is not an ML Program in an
  ///   `.mlpackage`, or holds no weights.
  public init(
    contentsOf url: URL, allowsLinks: Bool = false, isolation: Isolation = .standard
  ) throws(ModelError) {
    let read = try ReadModel(contentsOf: url, allowsLinks: allowsLinks, isolation: isolation)
    let source = read.program.source
    let place = source.files.first { $0.lastPathPart != "Manifest.json" } ?? source.path
    guard source.format == .mlProgram, FileKind(source.path) == .folder, place.hasExtension("mlmodel") else {
      throw ModelError(
        .unsupported,
        "'\(source.path.lastPathPart)' is not an ML Program in an .mlpackage folder, the only kind that is compressed; "
          + "convert it with coremltools to an ML Program for iOS 16 or later")
    }
    byteCount = source.files.reduce(0) { $0 + ((try? OpenFile($1))?.byteCount ?? 0) }
    (model, files, tensors) = try Self.wrapping { () throws(FormatError) in
      let bytes: Bytes
      do throws(FileError) { bytes = try Bytes(mapping: place) } catch { throw FormatError(error) }
      let message = WireMessage(bytes, file: place.lastPathPart)
      let files = WeightFiles(folder: place.parentPath, allowsLinks: allowsLinks)
      return (message, files, try ProgramReader(message, files).tensors)
    }
    weights = tensors.map { Weight(name: $0.name, shape: $0.shape, byteCount: $0.byteCount) }
    guard !weights.isEmpty else {
      throw ModelError(
        .unsupported,
        "'\(source.path.lastPathPart)' has no float16 or float32 weights of at least \(Self.leastCount) elements")
    }
  }

  /// Throws the error of a reader as a `ModelError`: `unsupported`, or `io` for all others.
  static func wrapping<Result>(_ body: () throws(FormatError) -> Result) throws(ModelError) -> Result {
    do throws(FormatError) { return try body() } catch {
      throw ModelError(error.code == .unsupported ? .unsupported : .io, "\(error)")
    }
  }

  /// Stores a weight in several forms.
  ///
  /// - Returns: The codings in the order of the forms; nil for one that the weight cannot have, because it holds
  ///   numbers that are not finite.
  public func codings(of index: Int, in forms: [WeightForm]) -> [Coding?] {
    let tensor = tensors[index]
    let found = compressed(tensor, forms)
    return forms.map { form in
      guard form != .original else {
        return Coding(form: form, byteCount: WeightFile.byteCount(of: tensor.byteCount), relativeError: 0)
      }
      return found[form].map { weight in
        Coding(form: form, byteCount: weight.byteCount(tableOf: tensor.type), relativeError: weight.relativeError)
      }
    }
  }

  /// Returns a weight in those forms that it can have. Codes made once are stored.
  private func compressed(_ tensor: StoredTensor, _ forms: [WeightForm]) -> [WeightForm: CompressedWeight] {
    let known = cache.weights.withLock { $0[tensor.record] ?? [:] }
    let missing = forms.filter { $0 != .original && known[$0] == nil }
    guard !missing.isEmpty else { return known }
    let limit = missing.map { if case .palette(let bits) = $0 { 1 << bits } else { 0 } }.max() ?? 0
    let elements = WeightElements(
      tensor.values, tensor.shape, isHalf: tensor.type == .float16, tablesUpTo: limit)
    var all = known
    for form in missing { all[form] = elements.compressed(form) }
    cache.weights.withLock { [all] in $0[tensor.record, default: [:]].merge(all) { _, new in new } }
    return all
  }

  /// Returns a copy of the model in memory, to be loaded.
  ///
  /// - Parameter forms: The form of each weight, as for ``write(_:to:)``.
  /// - Throws: `ModelError` with code `io` if the model's files cannot be read.
  public func asset(_ forms: [WeightForm]) throws(ModelError) -> ModelAsset {
    let (program, weights) = try copy(forms)
    return try ModelAsset(
      specification: Data(program), blobMapping: [URL(filePath: "weights/weight.bin"): Data(weights)])
  }

  /// Returns the number of bytes of the package that ``write(_:to:)`` writes.
  public func byteCount(_ forms: [WeightForm]) throws(ModelError) -> Int {
    let (program, weights) = try copy(forms)
    return program.count + weights.count + PackageWriter.manifestByteCount
  }

  private func copy(_ forms: [WeightForm]) throws(ModelError) -> (program: [UInt8], weights: [UInt8]) {
    precondition(forms.count == weights.count, "\(forms.count) forms for \(weights.count) weights")
    var codes: [Int: CompressedWeight] = [:]
    for (tensor, form) in zip(tensors, forms) where form != .original {
      codes[tensor.record] = compressed(tensor, [form])[form]
    }
    return try Self.wrapping { () throws(FormatError) in
      var writer = ProgramWriter(files, codes: codes)
      return (try writer.model(model), writer.weights.bytes)
    }
  }

  /// Writes a copy of the model.
  ///
  /// - Parameters:
  ///   - forms: The form of each weight, in the order of ``weights``. A weight that cannot have its form keeps its own.
  ///   - url: The package to write, a folder `.mlpackage` that does not exist. It appears when it is complete.
  /// - Returns: The number of bytes of the package.
  /// - Throws: `ModelError` with code `io` if the package cannot be written, or exists.
  @discardableResult
  public func write(_ forms: [WeightForm], to url: URL) throws(ModelError) -> Int {
    let (program, weights) = try copy(forms)
    do throws(FileError) { return try PackageWriter.write(program, weights: weights, to: url.relativePath) } catch {
      throw ModelError(.io, "\(error)")
    }
  }
}

/// The weights of a program that other forms make smaller.
private struct ProgramReader {
  private(set) var tensors: [StoredTensor] = []
  private var records: Set<Int> = []
  /// The operator set of iOS 16, the first with compressed weights.
  private static let leastOpset = 6
  private let files: WeightFiles

  init(_ model: WireMessage, _ files: WeightFiles) throws(FormatError) {
    self.files = files
    guard let program = try model.last(Fields.Model.mlProgram)?.message() else { return }
    for function in try program.values(Fields.Program.functions) {
      let opset = try function.last(Fields.Function.opset)?.string() ?? ""
      if let number = Int(opset.dropFirst(6)), opset.hasPrefix("CoreML"), number < Self.leastOpset {
        throw FormatError(
          .unsupported, file: model.file, "its operator set is \(opset), which has no compressed weights",
          remedy: "convert the model for iOS 16 or later")
      }
      for block in try function.values(Fields.Function.blockSpecializations) { try read(block) }
    }
  }

  private mutating func read(_ block: WireMessage) throws(FormatError) {
    for operation in try block.messages(Fields.Block.operations) {
      if let tensor = try StoredTensor(operation, files), tensor.count >= ModelCompressor.leastCount,
        tensor.shape.count > 1, records.insert(tensor.record).inserted
      {
        tensors.append(tensor)
      }
      for inner in try operation.messages(Fields.Operation.blocks) { try read(inner) }
    }
  }
}

extension WireMessage {
  fileprivate func messages(_ number: Int) throws(FormatError) -> [WireMessage] {
    var found: [WireMessage] = []
    try each(number) { (field) throws(FormatError) in found.append(try field.message()) }
    return found
  }

  /// Returns the values of a map, which are messages.
  fileprivate func values(_ number: Int) throws(FormatError) -> [WireMessage] {
    var found: [WireMessage] = []
    for entry in try messages(number) {
      if let value = try entry.last(Fields.MapEntry.value) { found.append(try value.message()) }
    }
    return found
  }
}

/// The weights that were stored in other forms so far, by the positions of their records.
private final class CompressedWeights: Sendable {
  let weights = Mutex<[Int: [WeightForm: CompressedWeight]]>([:])
}

extension CompressedWeight {
  /// The number of bytes in the weight file.
  fileprivate func byteCount(tableOf type: ElementType) -> Int {
    let parts =
      switch code {
      case .palette(let indices, let table): [indices.count, table.count * type.byteCount]
      case .int8(let values, let scales): [values.count, scales.count * type.byteCount, scales.count]
      }
    return parts.reduce(0) { $0 + WeightFile.byteCount(of: $1) }
  }
}
