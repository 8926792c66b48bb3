import CoreML
import Foundation
import Testing

/// Models that a program downloads.
extension ProgramTests {
  private static let hasPython = (try? Outcome.of("/usr/bin/env", ["python3", "--version"]).status) == 0

  @Test(.enabled(if: hasPython, "needs python3, whose server the program asks"), arguments: [5, 6])
  func downloadedModelsLoadWithoutNetwork(mode: Int) throws {
    let folder = try Folder()
    let program = try compile("RemoteModel", mode: mode, in: folder)
    let model = Places.root.appendingPathComponent("Tests/Vectors/Transformers/tiny_vit_f32.mlmodel")
    let files = folder.file("files")
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    try FileManager.default.copyItem(at: model, to: files.appendingPathComponent("vit.mlmodel"))
    try Data(contentsOf: model).prefix(2000).write(to: files.appendingPathComponent("half.mlmodel"))
    let server = try FileServer(files)

    func lines(_ name: String, _ way: String) throws -> [String] {
      let caches = folder.file("caches-\(way)")
      try FileManager.default.createDirectory(at: caches, withIntermediateDirectories: true)
      let outcome = try Outcome.of(
        program, ["http://127.0.0.1:\(server.port)/\(name).mlmodel", way],
        environment: ["XDG_CACHE_HOME": caches.path, "no_proxy": "127.0.0.1"])
      #expect(outcome.status == 0, "\(outcome.output)")
      return outcome.output.split(separator: "\n").map(String.init)
    }

    let ways = ["task", "async"]
    let configuration = MLModelConfiguration()
    configuration.computeUnits = .cpuOnly
    let expected = try "logits: \(Self.logits(MLModel(contentsOf: model, configuration: configuration)))"
    for way in ways {
      let first = try lines("vit", way)
      try #require(first.count == 5, "\(first)")
      let ending = try #require(first[0].split(separator: "*.", omittingEmptySubsequences: false).last)
      #expect(first[0].hasPrefix("downloaded: *.") && !["mlmodel", "mlpackage", "onnx"].contains(ending))
      #expect(Array(first[1...]) == ["moved: vit.mlmodelc", expected, "plan: true", "devices: true"], "\(first)")
      let missing = try lines("absent", way)
      #expect(missing.count == 1 && missing[0].hasPrefix("error: ") && missing[0].hasSuffix("answered 404"))
      let damaged = try lines("half", way)
      #expect(damaged.first?.hasPrefix("downloaded: ") == true)
      #expect(damaged.count == 2 && damaged[1].hasPrefix("error: com.apple.CoreML "), "\(damaged)")
    }
    server.stop()
    for way in ways {
      #expect(try lines("vit", way) == ["cached: vit.mlmodelc", expected, "plan: true", "devices: true"])
      let refused = try lines("half", way)
      #expect(refused.count == 1 && refused[0].hasPrefix("error: NSURLErrorDomain -1004 "), "\(refused)")
    }
  }

  /// The outputs of the model in this process, for the inputs of the program.
  private static func logits(_ model: MLModel) throws -> [Float] {
    let (name, input) = try #require(model.modelDescription.inputDescriptionsByName.first)
    let constraint = try #require(input.multiArrayConstraint)
    let array = try MLMultiArray(shape: constraint.shape, dataType: constraint.dataType)
    for index in 0..<array.count { array[index] = NSNumber(value: Double(index % 7) / 7) }
    let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: [name: array]))
    return try #require(output.featureValue(for: "logits")?.multiArrayValue).kelvin.floats
  }
}

/// A server of HTTP for the files of a folder, on a free port of this machine.
private final class FileServer {
  private let process = Process()
  let port: Int

  init(_ folder: URL) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder.path]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    // "Serving HTTP on 127.0.0.1 port 40123 (…) ..."
    var text = ""
    while !text.contains("\n") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { break }
      text += String(decoding: data, as: UTF8.self)
    }
    port = text.firstMatch(of: /port ([0-9]+)/).flatMap { Int($0.1) } ?? 0
    try #require(port > 0, "\(text)")
  }

  deinit { stop() }

  /// Kills the server. It inherits the blocked signals of the test's thread, SIGTERM among them.
  func stop() {
    guard process.isRunning else { return }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
