import FoundationEssentials
import Kelvin
import KelvinGeneration
import KelvinGraph
import KelvinHostOperations
import TestSupport
import Testing

@Suite struct ModelClassGeneratorTests {
  private let generator = ModelClassGenerator(className: "Net")

  private func describe(
    _ inputs: [Feature], _ outputs: [Feature] = [], _ metadata: ModelMetadata = ModelMetadata(),
    labels: Labels? = nil
  ) -> ModelDescription {
    let parts = labels.map { [FunctionPart.host(TopLabel($0, scores: "scores", output: outputs[0].name))] }
    return ModelDescription(Function(inputs: inputs, outputs: outputs, parts: parts ?? []), metadata)
  }

  private func lines(
    _ description: ModelDescription, _ generator: ModelClassGenerator? = nil
  ) throws -> [String] {
    try (generator ?? self.generator).source(for: description, modelName: "Net.onnx").split(separator: "\n").map {
      $0.drop { $0 == " " }.description
    }
  }

  @Test(arguments: [
    ("x", "x"), ("1", "_1"), ("a/b", "a_b"), ("a//b", "a_b"), ("a_b", "a_b"), ("class", "`class`"), ("", "__"),
    ("_", "__"), ("--", "__"), ("init", "init_"), ("self", "self_"), ("größe", "größe"), ("数", "数"),
    ("e\u{301}", "e\u{301}"),
    ("\u{301}e", "_\u{301}e"), ("a\u{202E}b", "a_b"), ("a\u{200B}b", "a_b"), ("👍", "__"), ("$0", "_0"), ("x`y", "x_y"),
    ("String", "String_"), ("featureNames", "featureNames_"), ("٣", "_٣"),
  ])
  func featureNameBecomesASwiftName(name: String, expected: String) throws {
    let found = try lines(describe([Feature(name: name, type: .double)]))
    #expect(found.contains("var \(expected): Double"), "\(found)")
  }

  @Test(arguments: [
    (FeatureKind.int64, "Int64"), (.double, "Double"), (.string, "String"),
    (.tensor(.float32, [.fixed(2)]), "ShapedArray<Float>"), (.tensor(.int64, [.fixed(2)]), "ShapedArray<Int64>"),
    (.tensor(.bool, [.fixed(2)]), "MultiArray"),
    (.image(ImageFeature(width: 2, height: 2, layout: .rgb)), "PixelBuffer"),
    (.dictionary(keys: .string), "[String: Double]"), (.dictionary(keys: .int64), "[Int64: Double]"),
    (.sequence(of: .string), "[String]"), (.sequence(of: .int64), "[Int64]"), (.tensors(.float32), "FeatureSequence"),
    (.strings([.fixed(2), .fixed(3)]), "FeatureSequence"),
  ])
  func featureTypeBecomesASwiftType(type: FeatureKind, expected: String) throws {
    let both = describe([Feature(name: "x", type: type)], [Feature(name: "y", type: type)])
    let found = try lines(both)
    #expect(found.contains { $0 == "var x: \(expected)" || $0 == "var x: \(expected) {" }, "\(found)")
    #expect(found.contains("let y: \(expected)"), "\(found)")
    let optional = try lines(describe([Feature(name: "x", type: type, isOptional: true)]))
    #expect(optional.contains { $0 == "var x: \(expected)?" || $0 == "var x: \(expected)? {" }, "\(optional)")
    #expect(optional.contains { $0.hasPrefix("init(x: \(expected)? = nil)") }, "\(optional)")
  }

  @Test func equalSwiftNamesAreAnErrorWithBothNames() throws {
    let twins = describe([Feature(name: "a/b", type: .double), Feature(name: "a.b", type: .double)])
    let error = #expect(throws: ModelError.self) { try lines(twins) }
    #expect(error?.code == .parameters)
    for part in ["'a/b'", "'a.b'", "'a_b'", "--rename"] {
      #expect(error?.description.contains(part) == true, "\(part)")
    }
    var renamed = generator
    renamed.memberNames = ["a.b": "other"]
    let found = try lines(twins, renamed)
    #expect(found.contains("var a_b: Double") && found.contains("var other: Double"))
  }

  @Test func shapedArrayOfAnOutputMustNotHideAnotherOutput() {
    var generator = generator
    generator.dialect = .coreml
    let outputs = [
      Feature(name: "x", type: .tensor(.float32, [.fixed(1)])), Feature(name: "xShapedArray", type: .double),
    ]
    let error = #expect(throws: ModelError.self) { try lines(describe([], outputs), generator) }
    #expect(error?.description.contains("'xShapedArray' and the shaped array of output 'x'") == true, "\(error as Any)")
  }

  @Test(arguments: ModelClassGenerator.Dialect.allCases)
  func imagesWithOneSetterAreAnError(dialect: ModelClassGenerator.Dialect) {
    var generator = generator
    generator.dialect = dialect
    let image = FeatureKind.image(ImageFeature(width: 2, height: 2, layout: .rgb))
    let twins = describe([Feature(name: "photo", type: image), Feature(name: "Photo", type: image)])
    let error = #expect(throws: ModelError.self) { try lines(twins, generator) }
    #expect(error?.description.contains("'setPhoto'") == true, "\(error as Any)")
  }

  @Test func unusableChoicesAreErrors() {
    let net = describe([Feature(name: "x", type: .double)])
    func message(_ change: (inout ModelClassGenerator) -> Void) -> String {
      var generator = generator
      change(&generator)
      return #expect(throws: ModelError.self) { try lines(net, generator) }?.description ?? ""
    }
    #expect(message { $0.className = "URL" }.contains("--class"))
    #expect(message { ($0.className, $0.dialect) = ("MLModel", .coreml) }.contains("--class"))
    #expect(message { $0.memberNames = ["y": "z"] }.contains("it has 'x'"))
    #expect(message { $0.memberNames = ["x": "1"] }.contains("'_1'"))
  }

  @Test func labelsBecomeCases() throws {
    let output = [Feature(name: "label", type: .string)]
    let labels = ["cat", "tabby, cat", "crane", "crane", "C+", "C-", "default", "rawValue", "", "\"\\\n"]
    let found = try lines(describe([], output, labels: .strings(labels)))
    #expect(
      found.filter { $0.hasPrefix("case ") } == [
        #"case cat = "cat""#, #"case tabby_cat = "tabby, cat""#, #"case crane = "crane""#, #"case C_ = "C+""#,
        #"case C__2 = "C-""#, #"case `default` = "default""#, #"case rawValue_ = "rawValue""#, #"case __ = """#,
        #"case ___2 = "\"\\\u{A}""#,
      ])
    let numbers = try lines(describe([], [Feature(name: "label", type: .int64)], labels: .integers([0, -1, 7])))
    #expect(numbers.contains("enum Label: Int64, CaseIterable, Sendable {"))
    #expect(numbers.filter { $0.hasPrefix("case ") } == ["case _0 = 0", "case minus1 = -1", "case _7 = 7"])
    #expect(try !lines(describe([], output)).contains { $0.contains("enum Label") })
  }

  @Test func metadataIsTheDocumentation() throws {
    var metadata = ModelMetadata()
    (metadata.summary, metadata.author, metadata.license) = ("Tells digits apart.", "Ada", "MIT")
    let x = Feature(name: "x", type: .tensor(.float32, [.fixed(1), .fixed(3)]), summary: "The scores.")
    let found = try lines(describe([x], [], metadata))
    #expect(found.contains("/// Tells digits apart.") && found.contains("/// Author: Ada"))
    let start = try #require(found.firstIndex(of: "/// The scores."))
    #expect(found[start + 2] == "/// An array of float32, shape [1, 3].")
  }

  @Test func statefulModelsPredictWithAState() throws {
    let state = Feature(name: "cache", type: .state(.float16, [.fixed(4)]))
    for dialect in ModelClassGenerator.Dialect.allCases {
      var generator = generator
      generator.dialect = dialect
      #expect(try lines(describe([state]), generator).contains { $0.contains("func makeState()") })
      #expect(try !lines(describe([]), generator).contains { $0.contains("func makeState()") })
    }
  }

  @Test func resourceIsFoundUnderEachEndOfItsPath() throws {
    var generator = generator
    generator.resourcePath = "Files/Models/Net.onnx"
    let places = #"["Files/Models/Net.onnx", "Models/Net.onnx", "Net.onnx"]"#
    for dialect in ModelClassGenerator.Dialect.allCases {
      generator.dialect = dialect
      #expect(try lines(describe([]), generator).contains { $0.contains(places) })
    }
    #expect(try !lines(describe([])).contains { $0.contains("Bundle") })
  }

  @Test func unchangedFileIsNotTouched() throws {
    let folder = TemporaryFolder()
    let url = URL(filePath: "\(folder.path)/Net.swift")
    let net = describe([Feature(name: "x", type: .double)])
    #expect(try generator.write(net, modelName: "Net.onnx", to: url))
    func state() throws -> [FileAttributeKey: Any] { try FileManager.default.attributesOfItem(atPath: url.path) }
    let before = try state()
    #expect(try !generator.write(net, modelName: "Net.onnx", to: url))
    let after = try state()
    #expect(before[.systemFileNumber] as? Int == after[.systemFileNumber] as? Int)
    #expect(before[.modificationDate] as? Date == after[.modificationDate] as? Date)
    var changed = generator
    changed.access = .public
    #expect(try changed.write(net, modelName: "Net.onnx", to: url))
    #expect(try String(contentsOf: url, encoding: .utf8).contains("public struct Net"))
    #expect(TemporaryFolder.entries(folder.path) == ["Net.swift"])
    let error = #expect(throws: ModelError.self) {
      try generator.write(net, modelName: "Net.onnx", to: URL(filePath: "\(folder.path)/absent/Net.swift"))
    }
    #expect(error?.code == .io)
  }
}
