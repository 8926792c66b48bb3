import KelvinCoreML
import KelvinEngine
import KelvinGraph
import KelvinImport
import KelvinReference
import TestSupport
import Testing

/// Packages whose manifest, program and weights do not fit together.
@Suite struct PackageTests {
  private func expect(
    _ code: FormatError.Code, _ words: String, in package: PackageFolder, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let error = try #require(try package.error(), "nothing was refused", sourceLocation: location)
    #expect(error.code == code, "\(error)", sourceLocation: location)
    #expect(error.description.contains(words), "\(error)", sourceLocation: location)
  }

  /// The sizes that coremltools declares, for factors in float32 and rounded to float16.
  @Test(
    arguments: [
      ("upsample_nearest_neighbor", Float(1.3), [26, 78]), ("upsample_bilinear", Float(0.35), [7, 21]),
      ("upsample_bilinear", 1.2998047, [26, 78]), ("upsample_nearest_neighbor", Float(0.7), [13, 41]),
      ("upsample_nearest_neighbor", Float(0.7), [14, 42]),
    ])
  func roundedScaleFactorsGiveTheDeclaredSizes(kind: String, factor: Float, sizes: [Int]) throws {
    var file = MILFile()
    file.input("x", [1, 1, 20, 60])
    file.number("factor", factor)
    file.operation(
      kind, ["x": ["x"], "scale_factor_height": ["factor"], "scale_factor_width": ["factor"]], "y", [1, 1] + sizes)
    file.output("y", [1, 1] + sizes)
    let program = try readCoreML(Bytes(file.bytes), path: "m", folder: ".", files: [])
    #expect(try program.graph().outputs.count == 1)
  }

  @Test func validPackageIsRead() throws {
    let folder = TemporaryFolder()
    let program = try readModel(at: PackageFolder().write(folder))
    #expect(program.source.format == .mlProgram)
    #expect(
      program.source.files.map { $0.split(separator: "/").last } == ["Manifest.json", "model.mlmodel", "weight.bin"])
    #expect(try program.main.inputs.map(\.name) == ["x"])
    #expect(try program.main.inputs[0].type == .tensor(.float32, [.fixed(1), .fixed(4), .fixed(6), .fixed(6)]))
  }

  @Test func onlyModelIsReadWithoutARootItem() throws {
    var package = PackageFolder()
    package.root = "ANOTHER"
    #expect(try package.error() == nil)
    package.root = "MODEL"
    package.item = "com.apple.CoreML/renamed.mlmodel"
    #expect(try package.error() == nil)
    package.modelPath = "Data/elsewhere/model.mlmodel"
    try expect(.malformed, "is not in the package", in: package)
  }

  @Test(arguments: ["../model.mlmodel", "com.apple.CoreML/../../../x.mlmodel", "/etc/hostname", ""])
  func aManifestCannotPointOutside(item: String) throws {
    var package = PackageFolder()
    package.item = item
    try expect(.malformed, "outside the package", in: package)
  }

  @Test(arguments: [
    "", "{", "[]", #"{"itemInfoEntries":{}}"#, #"{"itemInfoEntries":{"a":{"path":1}},"rootModelIdentifier":"a"}"#,
  ])
  func aDamagedManifestIsRefused(text: String) throws {
    let folder = TemporaryFolder()
    let path = PackageFolder().write(folder)
    folder.write(text, "m.mlpackage/Manifest.json")
    #expect(throws: FormatError.self) { try readModel(at: path) }
  }

  @Test func missingWeightsAreNamed() throws {
    var package = PackageFolder()
    package.weights = nil
    try expect(.unreadable, "weights/weight.bin", in: package)
    package.weights = []
    try expect(.malformed, "outside the file", in: package)
  }

  @Test func weightsOutsideTheirFileAreRefused() throws {
    for offset in [-64, Int.max, Int.max - 32, 1 << 40, 4096] {
      var file = MILFile()
      file.input("x", [1])
      file.constant("w", MILFile.float32, [2], MILFile.blob("@model_path/weights/weight.bin", offset: offset))
      file.operation("add", ["x": ["x"], "y": ["w"]], "y", [2])
      file.output("y", [2])
      try expect(.malformed, "record is outside", in: PackageFolder(model: file.bytes))
    }
  }

  @Test(arguments: ["../weights.bin", "@model_path/../w.bin", "/etc/hostname", "@model_path/", "a/../../b"])
  func weightFilesOutsideTheFolderAreRefused(name: String) throws {
    var file = MILFile()
    file.input("x", [1])
    file.constant("w", MILFile.float32, [2], MILFile.blob(name, offset: 64))
    file.operation("add", ["x": ["x"], "y": ["w"]], "y", [2])
    file.output("y", [2])
    try expect(.malformed, "outside the model's folder", in: PackageFolder(model: file.bytes))
  }

  /// One weight of two floats, its record changed.
  private func package(_ change: (inout [UInt8], Int) -> Void, type: UInt32 = 2, elements: Int = 2) -> PackageFolder {
    var weights = WeightFile()
    let record = weights.add(type: type, littleEndian([Float](repeating: 1, count: elements)))
    change(&weights.bytes, record)
    var file = MILFile()
    file.input("x", [1])
    file.constant("w", MILFile.float32, [2], MILFile.blob("@model_path/weights/weight.bin", offset: record))
    file.operation("add", ["x": ["x"], "y": ["w"]], "y", [2])
    file.output("y", [2])
    return PackageFolder(model: file.bytes, weights: weights.bytes)
  }

  @Test func weightRecordMustMatchTheProgram() throws {
    #expect(try package { _, _ in }.error() == nil)
    try expect(.malformed, "0xDEADBEEF", in: package { $0[$1] = 0 })
    try expect(.malformed, "element type 1", in: package({ _, _ in }, type: 1))
    try expect(.malformed, "takes 8 bytes", in: package({ _, _ in }, elements: 3))
    try expect(.unsupported, "version is 1", in: package { bytes, _ in bytes[4] = 1 })
    for offset in [UInt64.max, 1 << 63, 1 << 20, 1 << 62] {
      try expect(
        .malformed, "are outside the file",
        in: package { $0.replaceSubrange($1 + 16..<$1 + 24, with: littleEndian(offset)) })
    }
  }

  @Test func foldersAndFilesWithoutAModelAreRefused() throws {
    let folder = TemporaryFolder()
    #expect(throws: FormatError.self) { try readModel(at: folder.path) }
    #expect(throws: FormatError.self) { try readModel(at: "\(folder.path)/absent.onnx") }
    for name in ["empty.onnx", "empty.mlmodel", "notes.txt"] {
      let path = folder.write("", name)
      #expect(throws: FormatError.self) { try readModel(at: path) }
    }
  }

  @Test func allMissingOperationsAreListed() throws {
    var file = MILFile()
    file.input("x", [1])
    for index in 0..<5 { file.operation("fft", ["x": ["x"]], "f\(index)", [1]) }
    file.operation("hinge", ["x": ["x"]], "l", [1])
    file.output("l", [1])
    let error = try #require(try PackageFolder(model: file.bytes).error())
    #expect(error.missing.map(\.name) == ["ios16.fft", "ios16.hinge"])
    #expect(error.missing.map(\.count) == [5, 1])
    #expect(error.missing[0].places == ["f0", "f1", "f2"])
  }

  @Test func aProgramThatContradictsItselfIsRefused() throws {
    var file = MILFile()
    file.input("x", [1, 3])
    file.operation("relu", ["x": ["x"]], "y", [1, 4])
    file.output("y", [1, 4])
    try expect(.malformed, "but has the value", in: PackageFolder(model: file.bytes))
    file = MILFile()
    file.input("x", [3])
    file.operation("relu", ["x": ["y"]], "y", [3])
    file.output("y", [3])
    try expect(.malformed, "is not computed before it", in: PackageFolder(model: file.bytes))
    file = MILFile()
    file.input("x", [3])
    file.operation("relu", ["x": ["x"]], "x", [3])
    file.output("x", [3])
    try expect(.malformed, "already defined", in: PackageFolder(model: file.bytes))
  }

  @Test func argMaxGivesInt32() throws {
    var file = MILFile()
    file.input("x", [2, 3])
    file.operation("reduce_argmax", ["x": ["x"]], "largest", [2], type: MILFile.int32)
    file.integers("zero", [0], scalar: true)
    file.flag("keep", true)
    file.operation(
      "reduce_argmin", ["x": ["x"], "axis": ["zero"], "keep_dims": ["keep"]], "smallest", [1, 3], type: MILFile.int32)
    file.outputs = ["largest", "smallest"]
    file.output("largest", [2])
    file.output("smallest", [1, 3])
    let folder = TemporaryFolder()
    let graph = try readModel(at: PackageFolder(model: file.bytes).write(folder)).graph()
    let results = try run(graph, [Tensor([1, 5, 5, 9, -2, 0] as [Float], [2, 3])])
    #expect(results.map(\.type) == [TensorType(.int32, [2]), TensorType(.int32, [1, 3])])
    #expect(results.map(\.integers) == [[1, 0], [0, 1, 1]])
  }
}
