// Downloads a model, compiles it, and keeps it in the caches folder, from which later runs load it without a network.
//
// RemoteModel ADDRESS [task]
import CoreML
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct DownloadError: LocalizedError {
  let status: Int
  var errorDescription: String? { "the server answered \(status)" }
}

@main
struct RemoteModel {
  static func place(of address: URL) throws -> URL {
    let caches = try FileManager.default.url(
      for: .cachesDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
    let folder = caches.appendingPathComponent("Models")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder.appendingPathComponent(address.deletingPathExtension().lastPathComponent + ".mlmodelc")
  }

  static func checked(_ file: URL, _ response: URLResponse?) throws -> URL {
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard status == 200 else { throw DownloadError(status: status) }
    print("downloaded: *.\(file.pathExtension)")
    return file
  }

  static func compiled(_ address: URL) async throws -> URL {
    let (file, response) = try await URLSession.shared.download(from: address)
    return try await MLModel.compileModel(at: checked(file, response))
  }

  /// The downloaded file lasts until the handler returns, so the handler compiles it.
  static func compiledByTask(_ address: URL) async throws -> URL {
    try await withCheckedThrowingContinuation { continuation in
      let task = URLSession.shared.downloadTask(with: address) { location, response, error in
        continuation.resume(
          with: Result {
            guard let location else { throw error ?? URLError(.unknown) }
            return try MLModel.compileModel(at: checked(location, response))
          })
      }
      task.resume()
    }
  }

  static func prediction(_ model: MLModel) throws -> [String] {
    var values: [String: MLFeatureValue] = [:]
    for (name, description) in model.modelDescription.inputDescriptionsByName {
      guard let constraint = description.multiArrayConstraint else { continue }
      let array = try MLMultiArray(shape: constraint.shape, dataType: constraint.dataType)
      for index in 0..<array.count { array[index] = NSNumber(value: Double(index % 7) / 7) }
      values[name] = MLFeatureValue(multiArray: array)
    }
    let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: values))
    return output.featureNames.sorted().compactMap { name in
      guard let array = output.featureValue(for: name)?.multiArrayValue else { return nil }
      return "\(name): \((0..<array.count).map { array[$0].floatValue })"
    }
  }

  static func run(_ address: URL, byTask: Bool) async throws {
    let place = try place(of: address)
    if FileManager.default.fileExists(atPath: place.path) {
      print("cached: \(place.lastPathComponent)")
    } else {
      let model = byTask ? try await compiledByTask(address) : try await compiled(address)
      try FileManager.default.moveItem(at: model, to: place)
      print("moved: \(place.lastPathComponent)")
    }
    let configuration = MLModelConfiguration()
    configuration.computeUnits = .cpuOnly
    let model = try await MLModel.load(contentsOf: place, configuration: configuration)
    for line in try prediction(model) { print(line) }
    let plan = try await MLComputePlan.load(contentsOf: place, configuration: configuration)
    guard case .program(let program) = plan.modelStructure, let main = program.functions["main"] else { return }
    let placed = main.block.operations.compactMap { plan.deviceUsage(for: $0)?.preferred }
    let onCPU = placed.filter { device in if case .cpu = device { true } else { false } }
    print("plan: \(placed.isEmpty == false && onCPU.count == placed.count)")
    print("devices: \(MLModel.availableComputeDevices.isEmpty == false)")
  }

  static func main() async {
    let address = URL(string: CommandLine.arguments[1])!
    do {
      try await run(address, byTask: CommandLine.arguments.last == "task")
    } catch {
      print("error: \((error as NSError).domain) \((error as NSError).code) \(error.localizedDescription)")
    }
  }
}
