import KelvinBasics
import KelvinGraph
import KelvinImport

/// An ML Program and its weight files.
struct ProgramSource: CompressibleSource {
  private let model: WireMessage
  private let files: WeightFiles
  /// An operation that iOS 18 reads differently, if there is one; the model then has no forms of iOS 18.
  private let blocker: String?
  /// The version of iOS of the model's operations.
  private let least: Int
  let tensors: [StoredTensor]
  /// The operations that multiply with weights; none for a model of several functions.
  private let uses: [WeightUse]
  var system: Int? { least }

  /// - Parameter path: The model's file in a package.
  init(_ path: String, allowsLinks: Bool) throws(FormatError) {
    let bytes: Bytes
    do throws(FileError) { bytes = try Bytes(mapping: path) } catch { throw FormatError(error) }
    model = WireMessage(bytes, file: path.lastPathPart)
    files = WeightFiles(folder: path.parentPath, allowsLinks: allowsLinks)
    let read = try ProgramReader(model, files)
    (tensors, blocker, least) = (read.tensors, read.blocker, (read.opset ?? OperatorSet.ios16) + 10)
    uses = read.functionCount == 1 ? read.uses.found : []
  }

  func candidates(system: Int) -> [WeightForm] {
    max(system, least) >= 18 ? WeightForm.smaller + WeightForm.newer : WeightForm.smaller
  }

  func elements(_ tensor: StoredTensor) -> WeightElements {
    WeightElements(tensor.values, tensor.shape, isHalf: tensor.type == .float16)
  }

  func takes(_ form: WeightForm, _ tensor: StoredTensor) -> Bool { true }

  func byteCount(_ tensor: StoredTensor) -> Int { WeightFile.byteCount(of: tensor.byteCount) }

  func byteCount(_ weight: CompressedWeight, _ form: WeightForm, _ tensor: StoredTensor) -> Int {
    let operations = weight.operations(tensor.type, tensor.shape, system: max(form.system, least))
    return operations.reduce(0) { sum, operation in
      operation.inputs.reduce(sum) { sum, input in
        guard case .stored(let elements) = input.value else { return sum }
        return sum + WeightFile.byteCount(of: elements.byteCount)
      }
    }
  }

  func copy(_ forms: [Int: (form: WeightForm, weight: CompressedWeight)]) throws(FormatError) -> ModelCopy {
    let needed = forms.values.max { $0.form.system < $1.form.system }?.form
    if let needed, needed.system > least, needed.system >= 18, let blocker {
      throw FormatError(
        .unsupported, file: model.file,
        "'\(needed)' needs iOS 18, which reads the model's operation '\(blocker)' differently",
        remedy: "convert the model for iOS 18 first, or use forms of iOS 16")
    }
    var writer = ProgramWriter(
      files, codes: forms.mapValues(\.weight), system: max(needed?.system ?? 16, least))
    return ModelCopy(model: try writer.model(model), weights: writer.weights.bytes)
  }
}

extension ProgramSource {
  func probe() throws(FormatError) -> (copy: ModelCopy, uses: [WeightUse])? {
    let records = Set(tensors.map(\.record))
    let uses = uses.filter { records.contains($0.record) }
    guard !uses.isEmpty else { return nil }
    var writer = ProgramWriter(files, codes: [:], system: least)
    var names: Set<ExactString> = []
    writer.outputs = uses.filter { names.insert(ExactString($0.input)).inserted }
    return (ModelCopy(model: try writer.model(model), weights: writer.weights.bytes), uses)
  }
}

/// The weights of a program that other forms make smaller.
private struct ProgramReader {
  private(set) var tensors: [StoredTensor] = []
  /// The least operator set of a function.
  private(set) var opset: Int?
  /// An operation whose inputs differ in iOS 18.
  private(set) var blocker: String?
  private(set) var uses = WeightUses()
  private(set) var functionCount = 0
  private var records: Set<Int> = []
  private let files: WeightFiles

  /// Operations whose inputs changed after iOS 16 (coremltools 9, the operator definitions of iOS 17 and 18).
  private static let changed: Set<String> = [
    "crop_resize", "non_maximum_suppression", "constexpr_lut_to_dense", "constexpr_sparse_to_dense",
  ]

  init(_ model: WireMessage, _ files: WeightFiles) throws(FormatError) {
    self.files = files
    guard let program = try model.last(Fields.Model.mlProgram)?.message() else { return }
    for function in try program.values(Fields.Program.functions) {
      let name = try function.last(Fields.Function.opset)?.string() ?? ""
      let number = OperatorSet(name).number ?? OperatorSet.ios18
      guard number >= OperatorSet.ios16 else {
        throw FormatError(
          .unsupported, file: model.file, "its operator set is \(name), which has no compressed weights",
          remedy: "convert the model for iOS 16 or later")
      }
      opset = min(opset ?? number, number)
      functionCount += 1
      for block in try function.values(Fields.Function.blockSpecializations) {
        try read(block)
        for operation in try block.messages(Fields.Block.operations) { try uses.read(operation, files) }
      }
    }
    if opset ?? 0 >= OperatorSet.ios18 { blocker = nil }
  }

  private mutating func read(_ block: WireMessage) throws(FormatError) {
    for operation in try block.messages(Fields.Block.operations) {
      if let type = try operation.last(Fields.Operation.type)?.string(), Self.changed.contains(type) { blocker = type }
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
  /// Returns the values of a map, which are messages.
  fileprivate func values(_ number: Int) throws(FormatError) -> [WireMessage] {
    var found: [WireMessage] = []
    for entry in try messages(number) {
      if let value = try entry.last(Fields.MapEntry.value) { found.append(try value.message()) }
    }
    return found
  }
}
