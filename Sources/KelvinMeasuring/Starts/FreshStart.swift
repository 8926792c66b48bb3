package import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinDevices
import KelvinEngine
package import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

/// One complete, timed start of a model, as a benchmark runs it in a separate process.
package enum FreshStart {
  /// Returns seconds on CLOCK_MONOTONIC, which all processes share.
  package static func clock() -> Double { MonotonicClock.now() }

  /// Loads a model, adopts a plan, compiles and predicts once, as a benchmark's request file describes.
  ///
  /// - Parameters:
  ///   - path: the request file.
  ///   - began: the time of the program's first own instruction.
  /// - Returns: the measured times, as the benchmark decodes them.
  /// - Throws: `ModelError` if the request is invalid or the start fails.
  package static func answer(request path: String, began: Double) throws(ModelError) -> Data {
    let document = try LocalFile.read(path)
    return try ModelError.wrapping {
      let request = try JSONText.decode(StartRequest.self, from: document)
      guard request.version == StartRequest.currentVersion else {
        throw ModelError(
          .parameters, "the request is of version \(request.version), expected \(StartRequest.currentVersion)")
      }
      return try JSONText.encode(try answer(request, began))
    }
  }

  private static func answer(_ request: StartRequest, _ began: Double) throws -> StartAnswer {
    guard let units = UnitsSelection(request.units), let precision = Precision(rawValue: request.precision) else {
      throw ModelError(.parameters, "unknown units '\(request.units)' or precision '\(request.precision)'")
    }
    let inventory = deviceInventory
    _ = try units.devices(in: inventory)
    let devicesOpen = clock()
    var options = LoadOptions()
    options.request = PlanRequest(
      units: units, isStrict: request.isStrict, precision: precision, threads: request.threads)
    options.plan = request.plan
    options.shapes = request.shapes.mapValues { Shape($0) }
    options.function = request.function
    options.isDeterministic = request.isDeterministic
    options.tuning = KernelTuning(KernelTuning.Mode(rawValue: request.tuning) ?? .automatic)
    options.allowsLinks = request.allowsLinks
    options.cacheDirectory = request.cacheDirectory
    let model = try LoadedModel(path: request.model, options: options, inventory: inventory)
    let explanation = try model.shown.explain()
    let loaded = clock()
    let session = try model.shown.compile(explanation).makeSession()
    let compiled = clock()
    try write(request.inputs, to: session, model.context.graph)
    try session.run()
    return StartAnswer(
      began: began, devicesOpen: devicesOpen, loaded: loaded, compiled: compiled, answered: clock(),
      peakResident: SystemFiles().peakResidentBytes ?? 0, deviceBytes: session.byteCounts)
  }

  private static func write(_ file: String, to session: Session, _ graph: Graph) throws {
    let bytes = try Bytes(reading: OpenFile(file))
    let sizes = graph.inputs.map { graph[$0].type.byteCount }
    guard bytes.count == sizes.reduce(0, +) else {
      throw ModelError(
        .parameters, "the inputs are \(bytes.count) bytes, the model takes \(sizes.reduce(0, +))")
    }
    bytes.withUnsafeBytes { raw in
      var offset = 0
      for (index, size) in sizes.enumerated() {
        session.withInput(index) {
          $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: raw[offset..<offset + size]))
        }
        offset += size
      }
    }
  }
}
