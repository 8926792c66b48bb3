public import FoundationEssentials
public import Kelvin
import KelvinBasics
import KelvinGraph
import KelvinImport
import Synchronization

/// Writes copies of an ML Program or an ONNX model with smaller weights.
///
/// A weight is a constant of float16 or float32 numbers. The copy of an ML Program is a Core ML package for iOS 16, or
/// for iOS 18 if a form needs it (``WeightForm/system``). The copy of an ONNX model is one file, in which weights are
/// float16, int8 (`DequantizeLinear`), or 4-bit integers in blocks (`MatMulNBits` of ONNX Runtime).
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

  private let source: any CompressibleSource
  private var tensors: [StoredTensor] { source.tensors }
  /// By the record of a weight, how much the errors of its elements count; equally for others.
  private var importance: [Int: ChannelImportance] = [:]
  private var cache = CompressedWeights()

  /// The least version of iOS that reads the model: 16 or later; nil for ONNX models.
  public var system: Int? { source.system }

  /// Reads a model.
  ///
  /// - Throws: `ModelError` with code `io` if the file cannot be read, `unsupported` if it is neither an ML Program in an
  ///   `.mlpackage` nor an ONNX model, or holds no weights.
  public init(
    contentsOf url: URL, allowsLinks: Bool = false, isolation: Isolation = .standard
  ) throws(ModelError) {
    let read = try ReadModel(contentsOf: url, allowsLinks: allowsLinks, isolation: isolation).program.source
    let place = read.files.first { $0.lastPathPart != "Manifest.json" } ?? read.path
    byteCount = read.files.reduce(0) { $0 + ((try? OpenFile($1))?.byteCount ?? 0) }
    source = try Self.wrapping { () throws(FormatError) -> any CompressibleSource in
      if read.format == .onnx, FileKind(read.path) == .file {
        return try ONNXSource(read.path, allowsLinks: allowsLinks)
      }
      guard read.format == .mlProgram, FileKind(read.path) == .folder, place.hasExtension("mlmodel") else {
        throw FormatError(
          .unsupported, file: read.path.lastPathPart,
          "it is neither an ML Program in an .mlpackage folder nor an ONNX model",
          remedy: "convert it with coremltools to an ML Program for iOS 16 or later")
      }
      return try ProgramSource(place, allowsLinks: allowsLinks)
    }
    weights = source.tensors.map { Weight(name: $0.name, shape: $0.shape, byteCount: $0.byteCount) }
    guard !weights.isEmpty else {
      throw ModelError(
        .unsupported,
        "'\(read.path.lastPathPart)' has no float16 or float32 weights of at least \(Self.leastCount) elements")
    }
  }

  /// Stores a weight in several forms.
  ///
  /// - Parameters:
  ///   - index: The index of the weight.
  ///   - forms: The forms.
  /// - Returns: The codings in the order of the forms; nil for one that the weight cannot have: because it holds
  ///   numbers that are not finite, does not divide into blocks or vectors, or is float16 already.
  public func codings(of index: Int, in forms: [WeightForm]) -> [Coding?] {
    let tensor = tensors[index]
    let found = compressed(tensor, forms.filter { source.takes($0, tensor) })
    return forms.map { form in
      guard form != .original else {
        return Coding(form: form, byteCount: source.byteCount(tensor), relativeError: 0)
      }
      guard source.takes(form, tensor), let weight = found[form] else { return nil }
      return Coding(
        form: form, byteCount: source.byteCount(weight, form, tensor), relativeError: weight.relativeError)
    }
  }

  /// Returns the errors of a weight in forms that the model's format may lack, with the elements' importance, relative
  /// to its squares with the same importance; nil where it cannot have one.
  func weightedErrors(of index: Int, in forms: [WeightForm]) -> [Double?] {
    let found = compressed(tensors[index], forms)
    return forms.map { $0 == .original ? 0 : found[$0]?.weightedError }
  }

  /// Returns a compressor with other importance of elements, by the records of weights.
  func weighted(by importance: [Int: ChannelImportance]) -> ModelCompressor {
    var weighted = self
    (weighted.importance, weighted.cache) = (importance, CompressedWeights())
    return weighted
  }

  /// Returns a model whose outputs include the values that weights are multiplied with; nil if there are none.
  func probe() throws(ModelError) -> (asset: ModelAsset, uses: [WeightUse])? {
    let found = try Self.wrapping { () throws(FormatError) in try source.probe() }
    return try found.map { found throws(ModelError) in (try Self.asset(found.copy), found.uses) }
  }

  /// The forms that a search tries.
  ///
  /// - Parameter system: The least version of iOS that reads the copy: 16 or 18. ONNX models have other forms.
  public func candidates(system: Int) -> [WeightForm] { source.candidates(system: system) }

  /// Returns a weight in those forms that it can have. Codes made once are stored.
  private func compressed(_ tensor: StoredTensor, _ forms: [WeightForm]) -> [WeightForm: CompressedWeight] {
    let known = cache.weights.withLock { $0[tensor.record] ?? [:] }
    let missing = forms.filter { $0 != .original && known[$0] == nil }
    guard !missing.isEmpty else { return known }
    var elements = source.elements(tensor)
    elements.importance = importance[tensor.record]?.elements(tensor.shape)
    let all = known.merging(elements.compressed(missing)) { old, _ in old }
    cache.weights.withLock { $0[tensor.record, default: [:]].merge(all) { _, new in new } }
    return all
  }

  /// Returns a copy of the model in memory, to be loaded. A weight in a form that the model's format lacks has the
  /// form's numbers in the weight's own type.
  ///
  /// - Parameter forms: The form of each weight, as for ``write(_:to:)``.
  /// - Throws: `ModelError` with code `io` if the model's files cannot be read.
  public func asset(_ forms: [WeightForm]) throws(ModelError) -> ModelAsset {
    try Self.asset(try copy(forms, withStandIns: true))
  }

  private static func asset(_ copy: ModelCopy) throws(ModelError) -> ModelAsset {
    let files = copy.weights.map { [URL(filePath: "weights/weight.bin"): Data($0)] } ?? [:]
    return try ModelAsset(specification: Data(copy.model), blobMapping: files)
  }

  /// Returns the number of bytes of the files that ``write(_:to:)`` writes.
  public func byteCount(_ forms: [WeightForm]) throws(ModelError) -> Int { try copy(forms).byteCount }

  private func copy(_ forms: [WeightForm], withStandIns: Bool = false) throws(ModelError) -> ModelCopy {
    precondition(forms.count == weights.count, "\(forms.count) forms for \(weights.count) weights")
    var chosen: [Int: (form: WeightForm, weight: CompressedWeight)] = [:]
    for (tensor, form) in zip(tensors, forms) where form != .original {
      let isTaken = source.takes(form, tensor)
      guard isTaken || withStandIns, var weight = compressed(tensor, [form])[form] else { continue }
      if !isTaken {
        let numbers = source.elements(tensor).decoded(weight.code)
        weight = CompressedWeight(
          code: .dense(numbers), relativeError: weight.relativeError, weightedError: weight.weightedError)
      }
      chosen[tensor.record] = (form, weight)
    }
    return try Self.wrapping { () throws(FormatError) in try source.copy(chosen) }
  }

  /// Throws the error of a reader as a `ModelError`: `unsupported`, or `io` for all others.
  static func wrapping<Result>(_ body: () throws(FormatError) -> Result) throws(ModelError) -> Result {
    do throws(FormatError) { return try body() } catch {
      throw ModelError(error.code == .unsupported ? .unsupported : .io, "\(error)")
    }
  }

  /// Writes a copy of the model.
  ///
  /// - Parameters:
  ///   - forms: The form of each weight, in the order of ``weights``. A weight that cannot have its form keeps its own.
  ///   - url: The folder `.mlpackage` to write for an ML Program, or the file for an ONNX model. It must not exist, and
  ///     appears when it is complete.
  /// - Returns: The number of bytes of the copy's files.
  /// - Throws: `ModelError` with code `io` if the copy cannot be written, or exists.
  @discardableResult
  public func write(_ forms: [WeightForm], to url: URL) throws(ModelError) -> Int {
    let copy = try copy(forms)
    do throws(FileError) { return try PackageWriter.write(copy, to: url.relativePath) } catch {
      throw ModelError(.io, "\(error)")
    }
  }
}

/// A model of which copies with other weights are written.
protocol CompressibleSource: Sendable {
  /// The weights that other forms make smaller, in the model's order.
  var tensors: [StoredTensor] { get }
  /// The least version of iOS that reads the model; nil if it is none for iOS.
  var system: Int? { get }
  /// The forms that a search tries.
  func candidates(system: Int) -> [WeightForm]
  /// The elements of a weight, with the channels on the first axis.
  func elements(_ tensor: StoredTensor) -> WeightElements
  /// Whether the format has a form for a weight.
  func takes(_ form: WeightForm, _ tensor: StoredTensor) -> Bool
  /// The number of bytes of a weight as it is.
  func byteCount(_ tensor: StoredTensor) -> Int
  /// The number of bytes of a weight in a form.
  func byteCount(_ weight: CompressedWeight, _ form: WeightForm, _ tensor: StoredTensor) -> Int
  /// Returns a copy with some weights in other forms, by their records.
  func copy(_ forms: [Int: (form: WeightForm, weight: CompressedWeight)]) throws(FormatError) -> ModelCopy
  /// Returns a copy with further outputs: the values that weights are multiplied with. Nil if there are none.
  func probe() throws(FormatError) -> (copy: ModelCopy, uses: [WeightUse])?
}

extension CompressibleSource {
  func probe() throws(FormatError) -> (copy: ModelCopy, uses: [WeightUse])? { nil }
}

/// The contents of a copy's files.
struct ModelCopy {
  let model: [UInt8]
  /// The weight file of a package; nil for a model in one file.
  let weights: [UInt8]?

  var byteCount: Int { model.count + (weights.map { $0.count + PackageWriter.manifestByteCount } ?? 0) }
}

/// The weights that were stored in other forms so far, by the positions of their records.
private final class CompressedWeights: Sendable {
  let weights = Mutex<[Int: [WeightForm: CompressedWeight]]>([:])
}
