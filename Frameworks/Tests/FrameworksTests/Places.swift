import Foundation

/// The folders and files that the tests use.
enum Places {
  /// The project's root.
  static let root: URL = {
    var url = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { url.deleteLastPathComponent() }
    return url
  }()

  /// The real models and images: `$KELVIN_SHARED`, or `../shared` beside the project. Nil if they are absent.
  static let shared: URL? = {
    let given = ProcessInfo.processInfo.environment["KELVIN_SHARED"].map { URL(fileURLWithPath: $0) }
    let place = given ?? root.deletingLastPathComponent().appendingPathComponent("shared")
    return FileManager.default.fileExists(atPath: place.appendingPathComponent("models").path) ? place : nil
  }()

  /// Why a test that needs the real models is skipped.
  static let reason = "needs the real models of ../shared (or $KELVIN_SHARED), which are absent"

  /// The folder with the built modules and libraries.
  static let build: URL = {
    // The test program is in that folder, in the program `swift test` or on its own.
    let program = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    let scratch = ProcessInfo.processInfo.environment["KELVIN_SCRATCH"].map { URL(fileURLWithPath: $0) }
    let release = (scratch ?? root.appendingPathComponent(".build")).appendingPathComponent("release")
    let beside = program.deletingLastPathComponent()
    let hasModules = FileManager.default.fileExists(atPath: beside.appendingPathComponent("Modules").path)
    return hasModules ? beside : release
  }()

  /// The options that make the built modules known to a compiler.
  static let moduleOptions: [String] = {
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: build.path)) ?? []
    let maps = folders.sorted().map { build.appendingPathComponent($0).appendingPathComponent("module.modulemap").path }
    let known = maps.filter { FileManager.default.fileExists(atPath: $0) }
    return ["-I", "\(build.path)/Modules"] + known.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
  }()

  static func path(_ name: String) -> String { (shared ?? root).appendingPathComponent(name).path }

  static let digits = root.appendingPathComponent("Examples/Digits/Digits.mlpackage")
  static let nine = root.appendingPathComponent("Examples/Digits/images/9_0125.png")
}

/// A temporary folder that is removed with its last use.
final class Folder {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("frameworks-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(at: url) }

  func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}

/// The result of a program.
struct Outcome {
  let status: Int32
  let output: String

  /// Runs a program and waits for it.
  static func of(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(status: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
  }
}
