import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinBench
import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinPlanning
import KelvinRuntime

/// Runs each start of a benchmark in a separate process with separate caches.
///
/// A temporary folder, removed with the object, contains the inputs and a cache for each configuration. A cold start
/// finds the cache empty; later starts find the cache that the cold start filled. Driver caches are redirected there
/// too.
final class FreshStarts: BenchmarkStarter {
  /// The timeout of a start in seconds, long enough that only a hanging process reaches it.
  static let timeout = 600.0

  private let model: String
  private let options: LoadOptions
  private let cancellation: Cancellation
  private let launcher: any StartLauncher
  private let folder: String
  private let inputs: String

  /// - Throws: `FileError` if no temporary folder can be written.
  init(
    _ model: String, _ options: LoadOptions, inputs tensors: [Tensor], launcher: any StartLauncher,
    cancellation: Cancellation
  ) throws {
    self.model = model
    self.options = options
    self.cancellation = cancellation
    self.launcher = launcher
    let parent = getenv("TMPDIR").map { String(path: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    var template = "\(parent)/kelvin-bench-XXXXXX".pathBytes
    guard mkdtemp(&template) != nil else { throw FileError(path: parent, action: "make a folder in", code: errno) }
    folder = String(path: template)
    inputs = "\(folder)/inputs"
    var bytes: [UInt8] = []
    for tensor in tensors { tensor.bytes.withUnsafeBytes { bytes += $0 } }
    do { try LocalFile.write(bytes, to: inputs) } catch {
      LocalFile.removeFolder(folder)
      throw error
    }
    launcher.temporaryFolder(folder)
  }

  deinit {
    LocalFile.removeFolder(folder)
    launcher.temporaryFolder(nil)
  }

  func start(
    _ configuration: BenchmarkConfiguration, plan: Plan, threads: Int, isCold: Bool
  ) throws -> ConfigurationResult.Start {
    let cache = "\(folder)/\(LocalFile.sanitized(configuration.label))"
    if isCold { LocalFile.removeFolder(cache) }
    for part in ["kelvin", "drivers"] { try LocalFile.makeFolder("\(cache)/\(part)") }
    let file = "\(folder)/request.json"
    let request = StartRequest(
      model: model, function: options.function, shapes: options.shapes.mapValues(\.dimensions),
      plan: plan, units: configuration.request.units.description, isStrict: configuration.request.isStrict,
      precision: configuration.request.precision.rawValue, threads: threads,
      isDeterministic: options.isDeterministic,
      // A requested tuning runs once before the starts, so starts do not repeat it.
      tuning: (options.tuning.mode == .off ? .off : KernelTuning.Mode.automatic).rawValue,
      allowsLinks: options.allowsLinks,
      cacheDirectory: options.cacheDirectory == nil ? nil : "\(cache)/kelvin", inputs: inputs)
    try LocalFile.write(Array(try JSONText.encode(request)), to: file)
    let (bytes, began): ([UInt8], Double)
    do throws(StartFailure) {
      (bytes, began) = try launcher.launch(
        request: file, environment: Self.driverCaches("\(cache)/drivers"), timeout: Self.timeout,
        isCancelled: { [cancellation] in cancellation.isCancelled })
    } catch {
      if cancellation.isCancelled { throw RuntimeError.cancelled }
      throw BenchmarkError.startFailed(error.description)
    }
    let answer = try Self.decode(bytes)
    return .init(
      launch: answer.devicesOpen - began, load: answer.loaded - answer.devicesOpen,
      compile: answer.compiled - answer.loaded, first: answer.answered - answer.compiled,
      total: answer.answered - began,
      memory: MemoryUse(peakResident: answer.peakResident, devices: answer.deviceBytes))
  }

  /// Decodes exactly one response whose times are in order.
  private static func decode(_ bytes: [UInt8]) throws -> StartAnswer {
    guard let answer = try? JSONText.decode(StartAnswer.self, from: Data(bytes)) else {
      throw BenchmarkError.startFailed("it ended without an answer that can be read")
    }
    let moments = [answer.began, answer.devicesOpen, answer.loaded, answer.compiled, answer.answered]
    guard answer.version == StartRequest.currentVersion, moments.allSatisfy(\.isFinite),
      zip(moments, moments.dropFirst()).allSatisfy({ $0 <= $1 }), answer.peakResident >= 0,
      answer.deviceBytes.values.allSatisfy({ $0 >= 0 })
    else { throw BenchmarkError.startFailed("its answer is not valid") }
    return answer
  }

  /// The environment variables that set the cache folders of Mesa, PoCL, NVIDIA's and other drivers.
  private static func driverCaches(_ folder: String) -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: [
        "XDG_CACHE_HOME", "MESA_SHADER_CACHE_DIR", "POCL_CACHE_DIR", "CUDA_CACHE_PATH", "__GL_SHADER_DISK_CACHE_PATH",
        "NEO_CACHE_DIR", "AMD_SHADER_DISK_CACHE_PATH",
      ].map { ($0, folder) })
  }
}
