import Foundation
import Testing

/// Programs for Apple's systems, compiled unchanged against the modules in both language modes.
@Suite(.serialized) struct ProgramTests {
  private static let hasModels = Places.shared != nil
  private static let model = Places.path("models/MobileNetV2_f16.mlpackage")
  private static let parrot = Places.path("images/photos/parrot.jpg")

  /// Compiles a program of `Frameworks/Programs`, or of other sources, and returns its path.
  func compile(
    _ name: String, mode: Int, in folder: Folder, sources: [URL]? = nil, links: Bool = true
  ) throws -> String {
    let program = folder.file("\(name)\(mode)").path
    let own = Places.root.appendingPathComponent("Frameworks/Programs/\(name).swift")
    let build = Places.build.path
    let linking = ["-o", program, "-L", build, "-lKelvinFrameworks", "-Xlinker", "-rpath", "-Xlinker", build]
    let outcome = try Outcome.of(
      "/usr/bin/env",
      ["swiftc", "-parse-as-library", "-swift-version", "\(mode)"] + (sources ?? [own]).map(\.path)
        + Places.moduleOptions + (links ? linking : ["-typecheck"]))
    try #require(outcome.status == 0, "\(outcome.output)")
    return program
  }

  private func run(
    _ name: String, mode: Int, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> [String] {
    let folder = try Folder()
    let program = try compile(name, mode: mode, in: folder)
    let outcome = try Outcome.of(program, arguments, environment: environment)
    #expect(outcome.status == 0, "\(outcome.output)")
    return outcome.output.split(separator: "\n").map(String.init)
  }

  @Test(arguments: [5, 6]) func mostUsedSymbolsCompile(mode: Int) throws {
    _ = try compile("Symbols", mode: mode, in: try Folder(), links: false)
  }

  @Test func membersOfAliasesAreVisible() throws {
    let source = Places.root.appendingPathComponent("Frameworks/Programs/Symbols.swift").path
    let options = ["-parse-as-library", "-swift-version", "6", "-enable-upcoming-feature", "MemberImportVisibility"]
    let outcome = try Outcome.of(
      "/usr/bin/env", ["swiftc", "-typecheck", source] + options + Places.moduleOptions)
    #expect(outcome.status == 0, "\(outcome.output)")
  }

  @Test(.enabled(if: hasModels, "\(Places.reason)"), arguments: [5, 6])
  func firstGenerationClassifiesPhotos(mode: Int) throws {
    let lines = try run("ClassicPhotos", mode: mode, [Self.model, Self.parrot])
    #expect(lines.first == "macaw - 95.7%")
    #expect(lines.contains { $0.hasPrefix("url: macaw 0.957") })
    if FileManager.default.isExecutableFile(atPath: Self.tool) {
      let classified = try Outcome.of(Self.tool, ["classify", Self.model, Self.parrot, "--json"])
      let number = classified.output.firstMatch(of: /"confidence" ?: ?([0-9.]+)/)
      let confidence = try #require(number.flatMap { Float($0.1) })
      #expect(lines.contains("url: macaw \(confidence)"), "\(lines) \(classified.output)")
    }
    #expect(lines.last == "error: com.apple.Vis 6")
  }

  @Test(.enabled(if: hasModels, "\(Places.reason)"), arguments: [5, 6])
  func secondGenerationFiltersCollections(mode: Int) throws {
    let folder = try Folder()
    let model = folder.file("classifier.mlpackage")
    try FileManager.default.copyItem(atPath: Self.model, toPath: model.path)
    try FileManager.default.createDirectory(at: folder.file("kelvin"), withIntermediateDirectories: true)
    try Data(#"{"model": "\#(model.path)"}"#.utf8).write(to: folder.file("kelvin/default-model.json"))
    let curves = """
      {"format": "kelvin-curves", "version": 1, "classes": {
        "macaw": {"precision": [[0.1, 0.5], [0.5, 0.95]], "recall": [[0.1, 0.9], [0.5, 0.85]]},
        "lorikeet": {"precision": [[0.0, 0.05]], "recall": [[0.0, 1.0]]}}}
      """
    try Data(curves.utf8).write(to: folder.file("classifier.mlpackage.curves.json"))
    let lines = try run(
      "PhotoCollection", mode: mode, [Self.parrot, Places.path("images/photos/owl.jpg")],
      environment: ["XDG_CONFIG_HOME": folder.url.path])
    #expect(lines.contains(#"parrot.jpg: ["macaw"]"#) && lines.contains("owl.jpg: []"), "\(lines)")
    #expect(lines.contains(#"found: ["parrot.jpg"]"#))
    #expect(lines.contains("twice: macaw macaw"))
    #expect(lines.contains(#"kinds: ["macaw", "macaw", "macaw"]"#))
    #expect(lines.last == #"classic: ["macaw 0.957"]"#, "\(lines)")
  }

  /// The names of DeepLab's classes, which the file itself does not have, and a color for each.
  private static let classes: String = {
    let labels = [
      "background", "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
      "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
    ]
    let colors = labels.indices.map { "\"#0000\(String(16 + $0, radix: 16))\"" }
    return """
      {"labels": [\(labels.map { "\"\($0)\"" }.joined(separator: ", "))], "colors": [\(colors.joined(separator: ", "))]}
      """
  }()

  @Test(.enabled(if: hasModels, "\(Places.reason)"), arguments: [5, 6])
  func segmentationGivesMasksByLabel(mode: Int) throws {
    let folder = try Folder()
    let (mask, model) = (folder.file("mask.png"), folder.file("DeepLab.mlmodel"))
    let plain = try Data(contentsOf: URL(fileURLWithPath: Places.path("models/DeepLabV3Int8LUT.mlmodel")))
    try ModelMetadata.adding("com.apple.coreml.model.preview.params", Self.classes, to: plain).write(to: model)
    let lines = try run(
      "Segmentation", mode: mode,
      [
        model.path, Places.path("images/segmentation/coral_bird_segmentation.bmp"), mask.path,
      ])
    #expect(lines.first == "shape: [513, 513]", "\(lines)")
    let bird = try #require(lines.first { $0.hasPrefix("bird #000013") }, "\(lines)")
    let share = try #require(Double(bird.split(separator: " ")[2].dropLast()))
    #expect((15...25).contains(share))
    #expect(lines.last == "mask: 513 x 513, written: true")
    #expect(try Data(contentsOf: mask).prefix(4) == Data([0x89, 0x50, 0x4E, 0x47]))
  }

  @Test(.enabled(if: hasModels, "\(Places.reason)"), arguments: [5, 6])
  func busyClassifierDropsFrames(mode: Int) throws {
    let lines = try run("FrameClassifier", mode: mode, [Self.model, Self.parrot])
    #expect(lines == ["macaw 95.7%", "dropped: true"], "\(lines)")
  }

  @Test(
    .enabled(if: hasModels, "\(Places.reason)"), arguments: [5, 6],
    ["MobileNetV2_f16.mlpackage", "MobileNetV2_nn_f16.mlmodel"])
  func compiledModelsLoadInOtherPrograms(mode: Int, name: String) throws {
    let folder = try Folder()
    let program = try compile("CompiledModels", mode: mode, in: folder)
    let model = Places.path("models/\(name)")
    let first = try Outcome.of(program, [model, Self.parrot, folder.url.path])
    let lines = first.output.split(separator: "\n").map(String.init)
    try #require(first.status == 0 && lines.first == "compiled: mlmodelc", "\(first.output)")
    #expect(lines.last == "error: com.apple.CoreML 0")
    let moved = try #require(lines.first { $0.hasPrefix("moved: macaw ") })
    let place = try #require(lines.first { $0.hasPrefix("place: ") }).dropFirst("place: ".count)
    let second = try Outcome.of(program, [String(place), Self.parrot, folder.url.path])
    #expect(second.output == moved.replacingOccurrences(of: "moved", with: "loaded") + "\n")
    if mode == 6, FileManager.default.isExecutableFile(atPath: Self.tool) {
      let classified = try Outcome.of(Self.tool, ["classify", String(place), Self.parrot])
      #expect(classified.output.contains("macaw"), "\(classified.output)")
    }
  }

  @Test(.enabled(if: hasModels, "\(Places.reason)"), arguments: [5, 6])
  func plansNameDevicesAndCosts(mode: Int) throws {
    let program = try run("ComputePlans", mode: mode, [Self.model])
    #expect(program.contains("device: cpu MLCPUComputeDevice"))
    #expect(program.contains("program: true weight: 1.00 x: 1"), "\(program)")
    #expect(program.last?.hasPrefix("outputs: true inputs: [") == true)
    let network = try run("ComputePlans", mode: mode, [Places.path("models/MobileNetV2_nn_f16.mlmodel")])
    #expect(network.last == "network: true first: convolution", "\(network)")
  }

  private static let tool = Places.build.appendingPathComponent("kelvin").path

  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: tool), "needs the program kelvin: make build"),
    arguments: [5, 6])
  func generatedClassesPredict(mode: Int) throws {
    let folder = try Folder()
    let (classes, main) = (folder.file("Digits.swift"), folder.file("Main.swift"))
    let written = try Outcome.of(
      Self.tool, ["generate", Places.digits.path, "--output", classes.path, "--dialect", "coreml"])
    try #require(written.status == 0, "\(written.output)")
    let source = """
      import CoreML
      import Foundation
      @main struct Main {
        static func main() throws {
          let digits = try Digits(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]))
          let output = try digits.prediction(imageAt: URL(fileURLWithPath: CommandLine.arguments[2]))
          print(output.classLabel)
        }
      }
      """
    try source.write(to: main, atomically: true, encoding: .utf8)
    let program = try compile("Generated", mode: mode, in: folder, sources: [classes, main])
    #expect(try Outcome.of(program, [Places.digits.path, Places.nine.path]).output == "nine\n")
  }
}
