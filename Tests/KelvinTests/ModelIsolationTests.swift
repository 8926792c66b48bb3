import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinGraph
import KelvinImport
import KelvinIsolation
import TestSupport
import Testing

/// Models that a worker reads first. The program `kelvin` is beside the test runner.
@Suite(.runsWorkers) struct ModelIsolationTests {
  private static let digits = "\(SharedFiles.projectRoot)/Examples/Digits"

  private static func load(_ path: String, _ isolation: Isolation) throws -> Model {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    configuration.isolation = isolation
    return try Model(contentsOf: URL(filePath: path), configuration: configuration)
  }

  @Test(arguments: ["Digits.onnx", "Digits.mlpackage"]) func isolatedModelIsTheSame(name: String) throws {
    let path = "\(Self.digits)/\(name)"
    let (plain, isolated) = (try Self.load(path, .none), try Self.load(path, .worker))
    #expect(isolated.modelDescription == plain.modelDescription)
    #expect(try isolated.computePlan.json() == plain.computePlan.json())
  }

  @Test func unreadableModelsGiveTheErrorsOfReading() throws {
    let folder = TemporaryFolder()
    let paths = [
      folder.write([8, 1, 0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f], "damaged.onnx"), folder.write("x", "odd.txt"),
      folder.write("{", "damaged.mlpackage/Manifest.json"), "\(folder.path)/absent.onnx",
    ].map { $0.hasSuffix("Manifest.json") ? $0.parentPath : $0 }
    for path in paths {
      let plain = #expect(throws: ModelError.self) { try Self.load(path, .none) }
      let isolated = #expect(throws: ModelError.self) { try Self.load(path, .worker) }
      #expect(isolated == plain, "\(path)")
    }
  }

  @Test func linkOutOfTheFolderIsNotOpenedForTheWorker() throws {
    let folder = TemporaryFolder()
    let package = folder.copy("\(Self.digits)/Digits.mlpackage", as: "linked.mlpackage")
    let manifest = "\(package)/Manifest.json"
    unlink(manifest)
    symlink("\(Self.digits)/Digits.mlpackage/Manifest.json", manifest)
    let plain = #expect(throws: ModelError.self) { try Self.load(package, .none) }
    let isolated = #expect(throws: ModelError.self) { try Self.load(package, .worker) }
    #expect(isolated == plain && isolated?.description.contains("link") == true)
  }

  @Test func timeLimitOfTheConfigurationEndsTheWait() {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.isolation = .worker
    configuration.timeLimit = .nanoseconds(1)
    let error = #expect(throws: ModelError.self) {
      try Model(contentsOf: URL(filePath: "\(Self.digits)/Digits.onnx"), configuration: configuration)
    }
    #expect(error?.code == .limit)
  }

  @Test func modelInMemoryIsRefused() async throws {
    var configuration = ModelConfiguration()
    configuration.isolation = .worker
    let bytes = Data(TemporaryFolder.read("\(Self.digits)/Digits.onnx"))
    let asset = try ModelAsset(specification: bytes)
    let error = await #expect(throws: ModelError.self) {
      try await Model.load(asset: asset, configuration: configuration)
    }
    #expect(error?.code == .unsupported && error?.description.contains("memory") == true)
  }

  /// The remedy that the refusal names.
  @Test func modelInMemoryIsReadWithoutIsolationOnRequest() async {
    await #expect(processExitsWith: .success) {
      Isolation.standard = .worker
      let asset = try ModelAsset(specification: Data(TemporaryFolder.read("\(ModelIsolationTests.digits)/Digits.onnx")))
      let refused = await #expect(throws: ModelError.self) { try await Model.load(asset: asset) }
      #expect(refused?.description.contains("isolation 'none'") == true)
      var configuration = ModelConfiguration(computeUnits: .cpuOnly)
      configuration.isolation = .none
      _ = try await Model.load(asset: asset, configuration: configuration)
    }
  }

  /// The second program ends after it is ready.
  @Test(arguments: [["ready\\0001", "garbage"], ["ready\\0001"]]) func failedWorkerNamesTheModel(answers: [String])
    async
  {
    await #expect(processExitsWith: .success) { [answers] in
      let folder = TemporaryFolder()
      setenv("KELVIN_PROGRAM", folder.writeWorker(answers: answers, waits: answers.count > 1), 1)
      let error = #expect(throws: ModelError.self) { try Self.load("\(Self.digits)/Digits.onnx", .worker) }
      #expect(
        error?.code == .io && error?.description.hasPrefix("model '\(Self.digits)/Digits.onnx': the worker") == true)
    }
  }

  @Test func workerThatReadsNoAnswersDoesNotBlock() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      setenv("KELVIN_PROGRAM", folder.writeWorker(answers: ["ready\\0001"], flood: "open"), 1)
      let error = #expect(throws: ModelError.self) { try Self.load("\(Self.digits)/Digits.onnx", .worker) }
      #expect(error?.code == .io && error?.description.contains("answer is invalid") == true)
    }
  }

  /// The parent's answer to a worker's request to open a file: the first field.
  @Test(arguments: [
    ("Digits.onnx", "", "file"), ("/etc/passwd", "", "system"), ("images/0_0030.png", "", "system"),
    ("images/0_0030.png", "below", "file"), ("../../README.md", "below", "system"),
  ])
  func workerGetsOnlyFilesOfTheModel(name: String, below: String, expected: String) {
    let broker = ModelBroker("\(Self.digits)/Digits.onnx", allowsLinks: false)
    let path = below.isEmpty && !name.isRootedPath ? "\(Self.digits)/\(name)" : name
    let request = WorkerMessage(["open", path, below, below.isEmpty ? "" : Self.digits, "0", "false"])
    #expect(broker.answer(request)[0] == expected)
  }

  @Test(arguments: [O_RDWR, O_WRONLY | O_CREAT, O_TRUNC, -1]) func workerGetsNoFileForWriting(flags: Int32) {
    let folder = TemporaryFolder()
    let model = folder.write("model", "model.onnx")
    let broker = ModelBroker(model, allowsLinks: true)
    let answer = broker.answer(WorkerMessage(["open", model, "", "", "\(flags)", "true"]))
    #expect(answer.fields == ["system", "\(EPERM)"])
    #expect(TemporaryFolder.read(model) == Array("model".utf8))
  }
}
