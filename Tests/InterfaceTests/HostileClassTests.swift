import Kelvin
import KelvinBasics
import KelvinGeneration
import KelvinGraph
import KelvinHostOperations
import TestSupport
import Testing

/// Classes for models whose names, labels and texts were chosen to end a comment or a literal, or to collide.
@Suite struct HostileClassTests {
  /// Code that the compiler would refuse, as a text of the model.
  private static let payload = "INJECTED()"
  private static let pieces = [
    "x", "y", "1", "", " ", "/", "//", "*/", "/*", "\"", "\"\"\"", "#\"", "\\", "\\(\(payload))", "\n", "\r\n", "\r",
    "\u{2028}",
    "\u{85}", "\u{B}", "\0", "\u{7F}", "\u{202E}", "\u{2066}", "\u{200D}", "\u{FEFF}", "\u{301}", "e\u{301}", "é", "数",
    "👩‍🚀", "`",
    "`\(payload)`", "\n\(payload)\n", "\"\n\(payload)\n\"", "*/\n\(payload)\n/*", "}", "{", "@main", "#if", "$0",
    "class", "self",
    "init", "Type", "Protocol", "Self", "super", "inout", "_", "default", "in", "try", "await", "String", "Set",
    "Double", "URL",
    "FeatureValue", "MLFeatureValue", "featureNames", "featureValue", "provider", "features", "present", "value",
    "input",
    "output", "model", "image", "imageValue", "setImage", "newValue", "cropAndScale", "orientation", "options", "Label",
    "Input", "Output", "Hostile", "kelvin", "\u{3164}", "\u{10FF80}", "ﬀ", "ß", "٣", "ShapedArray",
  ]

  private func text(_ random: inout SeededGenerator) -> String {
    (0...random.index(below: 3)).map { _ in Self.pieces[random.index(below: Self.pieces.count)] }.joined()
  }

  private func feature(_ random: inout SeededGenerator) -> Feature {
    let image = ImageFeature(
      width: 4, height: 4, layout: [.rgb, .bgr, .grayscale, .grayscaleFloat16][random.index(below: 4)])
    let kinds: [FeatureKind] = [
      .image(image), .tensor(.float32, [.fixed(2)]), .tensor(.float16, []), .tensor(.int64, [.fixed(3)]),
      .tensor(.bool, [.fixed(1)]), .int64, .double, .string, .dictionary(keys: .string), .dictionary(keys: .int64),
      .sequence(of: .string), .sequence(of: .int64), .strings([.fixed(2), .fixed(2)]), .tensors(.float32),
      .dictionaries(keys: .string),
    ]
    return Feature(
      name: text(&random), type: kinds[random.index(below: kinds.count)], isOptional: random.index(below: 4) == 0,
      summary: text(&random))
  }

  private func model(_ random: inout SeededGenerator) -> ModelDescription {
    var inputs = (0..<random.index(below: 6)).map { _ in feature(&random) }
    if random.index(below: 4) == 0 { inputs.append(Feature(name: "state", type: .state(.float16, [.fixed(2)]))) }
    let label = Feature(name: "label", type: .string)
    let outputs = [label] + (0..<random.index(below: 6)).map { _ in feature(&random) }
    let isLong = random.index(below: 4) == 0
    let labels = (0..<(isLong ? 200 : random.index(below: 12))).map { _ in text(&random) }
      .filter { !isLong || !$0.unicodeScalars.contains("\n") }
    var metadata = ModelMetadata()
    (metadata.summary, metadata.author) = (text(&random), text(&random))
    (metadata.license, metadata.version) = (text(&random), text(&random))
    let step = TopLabel(.strings(labels), scores: "scores", output: label.name)
    return ModelDescription(Function(inputs: inputs, outputs: outputs, parts: [.host(step)]), metadata)
  }

  /// Writes the classes of hostile models as one module, and returns how many there are. Collisions are errors.
  private func write(
    _ dialect: ModelClassGenerator.Dialect, seed: UInt64, count: Int, to folder: TemporaryFolder
  ) -> Int {
    var random = SeededGenerator(seed: seed)
    var written = 0
    for index in 0..<count {
      var generator = ModelClassGenerator(className: "Hostile\(index)\(text(&random))")
      generator.dialect = dialect
      generator.access = ModelClassGenerator.Access.allCases[random.index(below: 3)]
      let description = model(&random)
      do throws(ModelError) {
        let source = try generator.source(for: description, modelName: text(&random))
        expectHarmless(source, seed)
        folder.write(source, "\(index).swift")
        written += 1
      } catch {
        #expect(error.code == .parameters && error.description.contains("both become"), "seed \(seed): \(error)")
        #expect(error.description.contains("--rename"))
      }
    }
    return written
  }

  /// Expects the model's text in comments and literals only, and no character that a reader does not see.
  private func expectHarmless(_ source: String, _ seed: UInt64) {
    for scalar in source.unicodeScalars where scalar != "\n" {
      let isHidden = scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
      #expect(!isHidden || scalar == "\u{200D}", "seed \(seed): U+\(String(scalar.value, radix: 16))")
    }
    var isInLiteral = false
    for line in source.split(separator: "\n") {
      let code = line.drop { $0 == " " }
      if isInLiteral {
        isInLiteral = !code.hasPrefix("\"\"\".unicodeScalars")
      } else if line.contains(Self.payload) {
        #expect(code.hasPrefix("//") || code.contains("\""), "seed \(seed): \(line)")
      } else {
        isInLiteral = code.hasSuffix("= \"\"\"")
      }
    }
  }

  @Test(.enabled(if: SwiftCompiler.isInstalled, SwiftCompiler.reason), arguments: Tier.seeds(1 as UInt64, of: 24))
  func generatedSourceParsesAndMembersAreDistinct(seed: UInt64) {
    for dialect in ModelClassGenerator.Dialect.allCases {
      let folder = TemporaryFolder()
      let count = write(dialect, seed: seed, count: 40, to: folder)
      #expect(count >= 10, "seed \(seed): \(count) of 40 models have a class")
      let complaints = SwiftCompiler.complaints(about: folder.path, language: 6)
      #expect(complaints == nil, "seed \(seed), \(dialect): \(complaints ?? "")")
    }
  }
}
