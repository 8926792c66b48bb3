import KelvinCoreML
import KelvinEngine
import KelvinGraph
import KelvinImport
import KelvinONNX
import KelvinPasses
import KelvinReference

extension FuzzTarget {
  static let models = [
    FuzzTarget("onnx", FormatError.self, .wire, longest: 2048, seeds: Seeds.files([".onnx"], in: "Tests")) { bytes in
      try build(readONNX(Bytes(copying: bytes), path: "/nonexistent/model.onnx"))
    },
    // A constant in another file: its type and sizes, the lines of its description, and after an empty line the bytes of
    // the file.
    FuzzTarget("external", FormatError.self, longest: 512, seeds: Seeds.externalData) { bytes in
      let input = ExternalData(bytes)
      let program = try readONNX(Bytes(input.model), path: "\(ExternalData.folder)/model.onnx")
      try build(program) { precondition(!$0.bytes.withUnsafeBytes(input.isOutside), "a link was followed") }
    },
    // A ZIP file with a model.
    FuzzTarget("archive", FormatError.self, longest: 1024, seeds: Seeds.document("archive.zip")) { bytes in
      _ = try ModelArchive(Bytes(copying: bytes), file: "model.zip").model()
    },
    // Layers of a neural network, one by one and in small networks.
    FuzzTarget(
      "network", FormatError.self, .wire, longest: 2048,
      seeds: Seeds.files([".mlmodel"], in: "Tests/Vectors/Layers", "Tests/Vectors/NetworkControl")
    ) { bytes in
      try build(readCoreML(Bytes(copying: bytes), path: "model.mlmodel", folder: "/nonexistent", files: []))
    },
    // Trees, linear models, encoders, pipelines.
    FuzzTarget(
      "stages", FormatError.self, .wire, longest: 4096,
      seeds: Seeds.files([".mlmodel"], in: "Tests/Vectors/Parts", "Tests/Vectors/Classical")
    ) { bytes in
      try build(readCoreML(Bytes(copying: bytes), path: "model.mlmodel", folder: "/nonexistent", files: []))
    },
    // An ML Program whose constants are in a weight file.
    FuzzTarget(
      "program", FormatError.self, .wire, longest: 4096,
      seeds: Seeds.files(["model.mlmodel"], in: "Tests/CompressedWeights", "Tests/Vision", "Tests/Vectors")
    ) { bytes in
      try build(
        readCoreML(
          Bytes(copying: bytes), path: "model.mlmodel", folder: Package.joint.folder, files: []))
    },
    // The program text of a compiled model.
    FuzzTarget(
      "text", FormatError.self, longest: 4096,
      seeds: Seeds.files(["model.mil"], in: "Tests/Vectors/Compiled")
    ) { bytes in
      let folder = MemoryFolder.path("text.mlmodelc")
      MemoryFolder.write(bytes, to: "\(folder)/model.mil")
      try build(readModel(at: folder))
    },
    // The description of a compiled model's features.
    FuzzTarget("metadata", FormatError.self, .json, longest: 2048, seeds: Seeds.document("metadata.json")) { bytes in
      let folder = MemoryFolder.path("metadata.mlmodelc")
      let program = Seeds.files(["model.mil"], in: "Tests/Vectors/Compiled/accumulate.mlmodelc").first ?? []
      program.withUnsafeBytes { MemoryFolder.write($0, to: "\(folder)/model.mil") }
      MemoryFolder.write(bytes, to: "\(folder)/metadata.json")
      _ = try readModel(at: folder)
    },
    FuzzTarget("weights", FormatError.self, longest: 256, seeds: Package.plain.weights.map { [$0] } ?? []) {
      try build(Package.plain, weights: $0)
    },
    // The first byte chooses the program.
    FuzzTarget(
      "compressed", FormatError.self, longest: 12_288,
      seeds: Package.compressed.enumerated().compactMap { number, package in
        package.weights.map { [UInt8(number)] + $0 }
      }
    ) { bytes in
      guard let choice = bytes.first else { return }
      try build(
        Package.compressed[Int(choice) % Package.compressed.count],
        weights: UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
    },
    FuzzTarget("manifest", FormatError.self, .json, longest: 1024, seeds: Seeds.files(["Manifest.json"], in: "Tests")) {
      bytes in
      MemoryFolder.write(bytes, to: "\(Package.empty)/Manifest.json")
      _ = try readModel(at: Package.empty)
    },
  ]

  /// Builds the graph of every function and runs the passes: what loading a model does before any device is asked.
  ///
  /// - Parameter examine: Called with each constant of the graphs before the passes.
  private static func build(_ program: ModelProgram, examine: (Tensor) -> Void = { _ in }) throws {
    for (_, function) in program.functions.sorted(by: { $0.key < $1.key }) {
      do {
        for graph in try function.builtGraphs(shapes: [:], evaluator: ReferenceEvaluator()).compactMap(\.graph) {
          for case let weight? in graph.values.map(\.weight) where !weight.isCompressed { examine(weight.dense()) }
          let final = try Pipeline.standard(ReferenceEvaluator()).run(graph).graph
          try final.verify()
          for value in final.values { expand(value.weight) }
        }
      } catch let error as GraphError {
        precondition(!error.reason.contains("broke the graph"), error.description)
      }
    }
  }

  /// Decodes a compressed weight, as a device does when it packs it.
  private static func expand(_ weight: Weight?) {
    guard let weight, weight.isCompressed, weight.type.byteCount < 1 << 20 else { return }
    precondition(weight.dense().type == weight.type)
  }

  /// An ML Program of the project, with other weights.
  private static func build(_ package: Package, weights: UnsafeRawBufferPointer) throws {
    MemoryFolder.write(weights, to: "\(MemoryFolder.path("model/weights"))/weight.bin")
    try build(readCoreML(package.program, path: "model.mlmodel", folder: MemoryFolder.path("model"), files: []))
  }

  private struct Package {
    static let plain = Package("Tests/Vision/segmenter")
    static let joint = Package("Tests/CompressedWeights/joint_all")
    static let compressed =
      [joint]
      + [
        "palettized", "palettized_grouped", "palettized_quantized", "pruned", "pruned_palettized", "pruned_quantized",
        "quantized", "quantized_blocks",
      ].map { Package("Tests/CompressedWeights/joint_\($0)") } + [Package("Tests/CompressedWeights/constexpr_ios16")]

    /// A package in memory that has everything but its manifest.
    static let empty: String = {
      let folder = MemoryFolder.path("empty.mlpackage/Data/com.apple.CoreML")
      plain.program.withUnsafeBytes { MemoryFolder.write($0, to: "\(folder)/model.mlmodel") }
      return MemoryFolder.path("empty.mlpackage")
    }()

    let folder: String
    let program: Bytes
    let weights: [UInt8]?

    init(_ name: String) {
      folder = "\(Seeds.root)/\(name).mlpackage/Data/com.apple.CoreML"
      program = Bytes(Seeds.files(["/model.mlmodel"], in: "\(name).mlpackage").first ?? [])
      weights = Seeds.files(["/weight.bin"], in: "\(name).mlpackage").first
    }
  }
}
