import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinCompression
import TestSupport
import Testing

/// The size of models and of their tensors.
@Suite struct SizeReportTests {
  private static let root = SharedFiles.projectRoot
  private static let digits = "\(root)/Examples/Digits/Digits.mlpackage"
  private static let weights = "Data/com.apple.CoreML/weights/weight.bin"
  private let folder = TemporaryFolder()

  private static func report(_ path: String) throws -> SizeReport {
    try SizeReport(of: try ReadModel(contentsOf: URL(filePath: path)), allowsLinks: false)
  }

  /// Returns the bytes of the elements of all records of a weight file, record by record.
  private static func recordedBytes(_ file: [UInt8]) -> Int {
    func number(_ offset: Int, _ count: Int) -> Int {
      file[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    var (sum, place) = (0, 64)
    for _ in 0..<number(0, 4) {
      sum += number(place + 8, 8)
      place = (number(place + 16, 8) + number(place + 8, 8) + 63) / 64 * 64
    }
    return sum
  }

  private static let packages =
    ["constexpr_ios16", "constexpr_ios18", "joint_all", "joint_palettized", "joint_palettized_scaled", "joint_pruned"]
    .map { "\(root)/Tests/CompressedWeights/\($0).mlpackage" } + [digits]

  @Test(arguments: packages) func tensorsAndHeadersAreTheWeightFile(path: String) throws {
    let report = try Self.report(path)
    let file = TemporaryFolder.read("\(path)/\(Self.weights)")
    let stored = report.tensors.filter { $0.file == Self.weights }.reduce(0) { $0 + $1.byteCount }
    #expect(stored == Self.recordedBytes(file))
    let rest = report.rest.filter { $0.file == Self.weights }
    #expect(rest.map(\.name) == ["record headers and padding"])
    #expect(rest.map(\.byteCount) == [file.count - stored])
  }

  @Test(
    arguments: packages + [
      "\(root)/Examples/Digits/Digits.onnx", "\(root)/Tests/Vision/detector.mlmodel",
      "\(root)/Tests/Vectors/Compiled/accumulate.mlmodelc",
    ])
  func partsAddUpToTheFilesOnDisk(path: String) throws {
    let report = try Self.report(path)
    let size = TemporaryFolder.files(path).reduce(0) { $0 + TemporaryFolder.read($1).count }
    #expect(report.byteCount == size && size > 0)
    #expect(report.tensors.reduce(0) { $0 + $1.byteCount } + report.rest.reduce(0) { $0 + $1.byteCount } == size)
    #expect(report.tensors.map(\.byteCount) == report.tensors.map(\.byteCount).sorted(by: >))
  }

  /// Packages of coremltools' optimizers: the coding of the largest tensor, its shape, and its bytes from the numbers of
  /// elements, table entries, scales and bits of masks.
  private static let codings: [(package: String, coding: String, byteCount: Int)] = [
    ("joint_palettized", "palette-4", 64 * 48 / 2 + 4 * 16),
    ("joint_palettized_grouped", "palette-3", 64 * 48 * 3 / 8 + 4 * 4 * 8),
    ("joint_palettized_quantized", "palette-4", 64 * 48 / 2 + 16),
    ("joint_palettized_scaled", "palette-4", 64 * 48 / 2 + 4 * (4 * 48 * 16 + 48)),
    ("joint_quantized", "int8", 64 * 48 + 4 * 64),
    ("joint_quantized_blocks", "int4", 64 * 48 / 2 + 64 * 3 * 4 + 64 * 3 / 2),
    ("joint_pruned", "sparse float32", 4 * 1536 + 64 * 48 / 8),
    ("joint_pruned_quantized", "sparse int8", 1536 + 4 * 64 + 64 * 48 / 8),
    ("joint_pruned_palettized", "sparse palette-4", 1536 / 2 + 4 * 16 + 64 * 48 / 8),
    ("joint_all", "sparse palette-4", 1536 / 2 + 16 + 64 * 48 / 8),
  ]

  @Test(arguments: codings.indices) func compressedWeightIsOneTensor(index: Int) throws {
    let expected = Self.codings[index]
    let report = try Self.report("\(Self.root)/Tests/CompressedWeights/\(expected.package).mlpackage")
    let largest = try #require(report.tensors.first)
    #expect(largest.coding.description == expected.coding && largest.byteCount == expected.byteCount)
    #expect(largest.shape == [64, 48] && largest.name.hasPrefix("first_weight_0"))
    #expect(report.tensors.count == 4)
  }

  @Test func compiledProgramHasTheTensorsOfItsWeightFile() throws {
    let operations = """
      tensor<fp16, [4, 4]> w = const()[name = string("w; (a) = \\"b\\""), val = tensor<fp16, [4, 4]>(BLOBFILE(path = \
      string("@model_path/weights/weight.bin"), offset = uint64(64)))];
      tensor<fp16, [4, 4]> p = constexpr_lut_to_dense(indices = tensor<uint4, [4, 4]>(BLOBFILE(path = \
      string("@model_path/weights/weight.bin"), offset = uint64(192))), lut = tensor<fp16, [1, 1, 16, 1]>(BLOBFILE(path = \
      string("@model_path/weights/weight.bin"), offset = uint64(320))))[name = string("p")];
      """
    folder.write(
      """
      program(1.3) [buildInfo = dict<string, string>({{"coremlc-version", "3510.2.1"}})]
      {
        func main<ios18>(tensor<fp16, [4, 4]> x) {
          \(operations)
          tensor<fp16, [4, 4]> y = add(x = x, y = w)[name = string("y")];
          tensor<fp16, [4, 4]> z = add(x = y, y = p)[name = string("z")];
        } -> (z);
      }
      """, "m.mlmodelc/model.mil")
    var weights = [UInt8](repeating: 0, count: 64)
    (weights[0], weights[4]) = (3, 2)
    for (type, count) in [(1, 32), (11, 8), (1, 32)] {
      var record = [UInt8](repeating: 0, count: 128)
      record.replaceSubrange(0..<5, with: [0xEF, 0xBE, 0xAD, 0xDE, UInt8(type)])
      record[8] = UInt8(count)
      let place = weights.count + 64
      (record[16], record[17]) = (UInt8(place % 256), UInt8(place / 256))
      weights += record
    }
    folder.write(weights, "m.mlmodelc/weights/weight.bin")
    let report = try Self.report("\(folder.path)/m.mlmodelc")
    #expect(report.tensors.map(\.name) == ["p", "w"])
    #expect(report.tensors.map(\.coding.description) == ["palette-4", "float16"])
    #expect(report.tensors.map(\.byteCount) == [40, 32] && report.tensors.allSatisfy { $0.shape == [4, 4] })
    #expect(report.rest.map(\.name).contains("record headers and padding"))
    #expect(!report.rest.map(\.name).contains("unused bytes"))
  }

  @Test func filesBesideTheModelAreShippedToo() throws {
    let path = folder.copy(Self.digits, as: "Extra.mlpackage")
    let before = try Self.report(path)
    folder.write([UInt8](repeating: 7, count: 1000), "Extra.mlpackage/Data/notes/read me.txt")
    let after = try Self.report(path)
    #expect(after.byteCount == before.byteCount + 1000 && after.files.count == before.files.count + 1)
    #expect(after.rest.contains { $0.name == "read me.txt" && $0.byteCount == 1000 })
    #expect(after.tensors.map(\.byteCount) == before.tensors.map(\.byteCount))
  }

  /// Zeros shrink to almost nothing, and random bytes do not shrink.
  @Test func downloadIsSmallerByWhatCompresses() throws {
    let path = folder.copy(Self.digits, as: "Extra.mlpackage")
    func measured() throws -> DownloadSize {
      var report = try Self.report(path)
      try report.measureDownload()
      return try #require(report.download)
    }
    let plain = try measured()
    folder.write([UInt8](repeating: 0, count: 300_000), "Extra.mlpackage/zeros")
    let zeros = try measured()
    #expect((1...2000).contains(zeros.zip - plain.zip))
    var random = SeededGenerator(seed: 1)
    folder.write((0..<100_000).map { _ in UInt8(random.index(below: 256)) }, "Extra.mlpackage/noise")
    let noise = try measured()
    // A file that does not shrink is stored, with two headers of 76 bytes and its name twice.
    #expect(noise.zip - zeros.zip == 100_000 + 76 + 2 * "Extra.mlpackage/noise".utf8.count)
    if let before = zeros.zstd, let after = noise.zstd {
      #expect((1...2000).contains(before - (plain.zstd ?? 0)) && (99_000...102_000).contains(after - before))
    }
  }

  @Test(arguments: [WeightForm.int8, .palette(bits: 4), .palette(bits: 8)])
  func estimatedCopyHasTheSizeOfTheWrittenOne(form: WeightForm) throws {
    let report = try Self.report(Self.digits)
    let compressor = try ModelCompressor(contentsOf: URL(filePath: Self.digits))
    let written = try compressor.byteCount(compressor.weights.map { _ in form })
    let copy = try #require(report.copies.first { $0.form == form })
    // The program grows, and the manifest is another.
    #expect(abs(copy.byteCount - written) < 1000 + 200 * compressor.weights.count)
    #expect(copy.byteCount < report.byteCount)
  }

  @Test func copiesOfONNXModelsHaveTheSizesOfTheWrittenOnes() throws {
    let path = "\(Self.root)/Examples/Digits/Digits.onnx"
    let compressor = try ModelCompressor(contentsOf: URL(filePath: path))
    let copies = try Self.report(path).copies
    #expect(copies.map(\.form.description) == ["int8", "float16"])
    for copy in copies {
      #expect(try copy.byteCount == compressor.byteCount(compressor.weights.map { _ in copy.form }))
    }
  }

  @Test func modelsThatCompressRefusesHaveNoCopies() throws {
    #expect(try Self.report("\(Self.root)/Tests/Vision/detector.mlmodel").copies.isEmpty)
  }

  @Test func textHasTotalsCopiesAndTheLargestTensors() throws {
    let text = try Self.report(Self.digits).text(width: 80, isVerbose: false)
    Golden.expect(text + "\n", at: "Tests/Golden/inspect-ship.txt")
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test func pageHasEveryTensor() throws {
    let report = try Self.report(Self.digits)
    let page = report.page(kelvinVersion: "0")
    for tensor in report.tensors { #expect(page.contains("title=\"\(tensor.name)\"")) }
    #expect(page.contains("palette-4") && page.contains("record headers and padding"))
  }

  @Test func cutWeightFileIsAnError() throws {
    let path = folder.copy(Self.digits, as: "Cut.mlpackage")
    folder.write(Array(TemporaryFolder.read("\(path)/\(Self.weights)").prefix(1000)), "Cut.mlpackage/\(Self.weights)")
    let error = #expect(throws: ModelError.self) { try Self.report(path) }
    #expect(error?.code == .io && error?.description.contains("weight.bin") == true, "\(error?.description ?? "")")
  }
}

/// The size of real models.
@Suite(.enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
struct RealModelSizeTests {
  /// The coding of the largest tensor, its bytes by its number of elements, and the number of tensors if it is known:
  /// MobileNetV2 has 53 layers with weights and biases.
  private static let models: [(file: String, coding: String, byteCount: Int, count: Int)] = [
    ("MobileNetV2_f16.mlpackage", "float16", 1000 * 1280 * 2, 106),
    ("MobileNetV2_pal6.mlpackage", "palette-6", 1000 * 1280 * 6 / 8 + 64 * 2, 106),
    ("MobileNetV2_int8.mlpackage", "int8", 1000 * 1280 + 1000 * 3, 106),
    ("MobileNetV2_f32.onnx", "float32", 1000 * 1280 * 4, 0),
    ("MobileNetV2_int8_qdq.onnx", "int8", 1001 * 1280, 0),
    ("mnist.onnx", "float32", 16 * 8 * 5 * 5 * 4, 8),
    ("MobileNetV2_nn_f16.mlmodel", "float16", 1000 * 1280 * 2, 0),
    ("SqueezeNetInt8LUT.mlmodel", "palette-8", 1000 * 512 + 256 * 4, 52),
  ]

  @Test(arguments: models.indices) func largestTensorAndSums(index: Int) throws {
    let expected = Self.models[index]
    let path = SharedFiles.path("models/\(expected.file)")
    let report = try SizeReport(of: try ReadModel(contentsOf: URL(filePath: path)), allowsLinks: false)
    let largest = try #require(report.tensors.first)
    #expect(largest.coding.description == expected.coding)
    // A message has some bytes before its elements.
    #expect((expected.byteCount...expected.byteCount + 32).contains(largest.byteCount), "\(largest.byteCount)")
    if expected.count > 0 { #expect(report.tensors.count == expected.count) }
    let rest = report.rest.reduce(0) { $0 + $1.byteCount }
    #expect(report.tensors.reduce(0) { $0 + $1.byteCount } + rest == report.byteCount)
    // Models are nearly all weights.
    #expect(rest < report.byteCount / 8, "\(rest)")
  }
}
