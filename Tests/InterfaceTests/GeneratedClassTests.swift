import FoundationEssentials
import TestSupport
import Testing

/// The classes that `kelvin generate` writes, as a compiler and a program use them.
@Suite struct GeneratedClassTests {
  private static let root = SharedFiles.projectRoot
  private static let tool = "\(Shell.products)/kelvin"
  /// An image classifier, floats, a table, a state, a dictionary, labels, strings, sequences, optional inputs, a compiled
  /// model.
  private static let models = [
    "Examples/Digits/Digits.mlpackage", "Examples/Digits/Digits.onnx", "Examples/TokenSequences/Licence.mlpackage",
    "Tests/Vectors/Classical/forest.mlmodel", "Tests/Vectors/Classical/svc_two.mlmodel",
    "Tests/Vectors/Sequences/split.onnx", "Tests/Vectors/Sequences/maybe.onnx", "Tests/Vectors/Texts/named.onnx",
    "Tests/Vectors/Texts/levels.onnx", "Tests/Vectors/Compiled/accumulate.mlmodelc",
    "Tests/Vectors/Unusual/enumerated_lengths.mlmodel", "Tests/Vision/detector.mlmodel",
  ].map { "\(root)/\($0)" }
  private static let sharedModels = [
    "MobileNetV2_f16.mlpackage", "MobileNetV2_f32.onnx", "DeepLabV3Int8LUT.mlmodel", "SqueezeNetFP16.mlmodel",
    "boston_linear.mlmodel", "fritz_human_pose_small.mlmodel", "mnist.onnx", "ultraface_version-RFB-320.onnx",
  ].map { SharedFiles.path("models/\($0)") }

  /// Writes the class of each model to a folder, and returns the messages of the tool.
  private func generate(_ models: [String], _ options: String, to folder: TemporaryFolder) -> String {
    models.enumerated().map { index, model in
      let result = Shell.run(
        "'\(Self.tool)' generate '\(model)' --class 'Class\(index)' \(options) --output '\(folder.path)/\(index).swift' 2>&1"
      )
      return result.status == 0 ? result.output : "\(model): status \(result.status): \(result.output)"
    }.joined()
  }

  /// The access levels and versions of the language in which classes are compiled.
  private static let variants = [("internal", 6), ("internal", 5), ("public", 6), ("package", 6)]

  private func expectValidClasses(_ models: [String], _ dialect: String, _ variant: (access: String, language: Int)) {
    let folder = TemporaryFolder()
    let said = generate(models, "--dialect \(dialect) --access \(variant.access)", to: folder)
    #expect(said.isEmpty, "\(said)")
    let complaints = SwiftCompiler.complaints(about: folder.path, language: variant.language)
    #expect(complaints == nil, "\(complaints ?? "")")
  }

  @Test(
    .enabled(if: SwiftCompiler.isInstalled, SwiftCompiler.reason), arguments: ["kelvin", "coreml"],
    Tier.some(1, of: variants))
  func classesOfEveryFormatCompile(dialect: String, variant: (String, Int)) {
    expectValidClasses(Self.models, dialect, variant)
  }

  @Test(
    .slow, .enabled(if: SwiftCompiler.isInstalled, SwiftCompiler.reason),
    .enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)), arguments: ["kelvin", "coreml"],
    variants)
  func classesOfRealModelsCompile(dialect: String, variant: (String, Int)) {
    expectValidClasses(Self.sharedModels, dialect, variant)
  }

  /// Examples/GeneratedClass, built beside the program, contains the class of Examples/Digits.
  @Test func exampleIsUpToDate() {
    let result = Shell.run("'\(Self.tool)' generate '\(Self.root)/Examples/Digits/Digits.mlpackage'")
    #expect(result.status == 0)
    Golden.expect(result.output, at: "Examples/GeneratedClass/Digits.swift")
  }

  @Test(.slow) func generatedClassPredictsWhatTheCommandPrints() throws {
    let folder = TemporaryFolder()
    let model = "\(Self.root)/Examples/Digits/Digits.mlpackage"
    for image in ["0_0030.png", "7_0043.png"] {
      let path = "\(Self.root)/Examples/Digits/images/\(image)"
      let found = Shell.run("'\(Shell.products)/GeneratedClass' '\(model)' '\(path)' 2>&1")
      #expect(found.status == 0, "\(found.output)")
      let predicted = Shell.run(
        "'\(Self.tool)' predict '\(model)' --input 'image=\(path)' --json --no-cache --output-dir '\(folder.path)'")
      #expect(predicted.status == 0, "\(predicted.output)")
      let words = found.output.split { $0 == " " || $0 == "\n" }
      try #require(words.count == 2, "\(found.output)")
      #expect(predicted.output.contains("\"\(words[0])\""), "\(found.output)\n\(predicted.output)")
      let scores = String(decoding: TemporaryFolder.read("\(folder.path)/classLabel_probs.json"), as: UTF8.self)
      #expect(scores.contains("\"\(words[0])\" : \(words[1])"), "\(found.output)\n\(scores)")
    }
  }
}
