// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKelvin
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinMeasuring

@c @implementation
public func kelvin_devices(
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?
) -> kelvin_code {
  document(json, error) { try ComputeDevice.report() }
}

@c @implementation
public func kelvin_plan(
  _ path: UnsafePointer<CChar>?, _ options: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: ErrorText?
) -> kelvin_code {
  document(json, error) {
    let url = URL(filePath: try KelvinC.path(path))
    let configuration = try configuration(options)
    return try waiting(nil) { try await ComputePlan.load(contentsOf: url, configuration: configuration) }.json()
  }
}

@c @implementation
public func kelvin_structure(
  _ path: UnsafePointer<CChar>?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?
) -> kelvin_code {
  document(json, error) {
    let url = URL(filePath: try KelvinC.path(path))
    let structure = try waiting(nil) { try await ModelStructure.load(contentsOf: url) }
    return try JSONText.encode(structure.document)
  }
}

@c @implementation
public func kelvin_profile(
  _ path: UnsafePointer<CChar>?, _ options: OpaquePointer?, _ seconds: Double, _ cancellation: OpaquePointer?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?
) -> kelvin_code {
  document(json, error) {
    let url = URL(filePath: try KelvinC.path(path))
    let configuration = try configuration(options)
    let cancellation = try Handles.findOptional(cancellation, as: CancellationHandle.self)
    var profiler = Profiler()
    if case .devices(let devices) = configuration.computeUnits { profiler.devices = devices }
    if seconds != 0 { profiler.budget = Duration.limited(seconds: seconds) }
    profiler.keepsMeasurements = configuration.usesCache
    return try waiting(cancellation) { [profiler] in
      try await profiler.profile(contentsOf: url, configuration: configuration)
    }.json()
  }
}

@c @implementation
public func kelvin_bench(
  _ path: UnsafePointer<CChar>?, _ workload: UnsafePointer<CChar>?, _ configurations: UnsafePointer<OpaquePointer?>?,
  _ count: Int, _ cancellation: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ error: ErrorText?
) -> kelvin_code {
  document(json, error) {
    let url = URL(filePath: try KelvinC.path(path))
    let workload = try Benchmark.Workload(text: try KelvinC.path(workload))
    let configurations = try elements(configurations, count, "configurations").map { try configuration($0) }
    let cancellation = try Handles.findOptional(cancellation, as: CancellationHandle.self)
    let benchmark =
      configurations.isEmpty
      ? Benchmark(workload: workload)
      : Benchmark(
        workload: workload,
        configurations: configurations.enumerated().map { index, configuration in
          .init(label: "\(index + 1): \(configuration.computeUnits)", configuration)
        })
    return try waiting(cancellation) { try await benchmark.run(contentsOf: url) }.json()
  }
}

private func document(
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?, _ work: () throws -> Data
) -> kelvin_code {
  answer(error) {
    let result = try place(json, "json")
    result.pointee = allocated(String(decoding: try work(), as: UTF8.self))
  }
}

extension Benchmark.Workload {
  /// Creates a workload from its name or the path of its file.
  fileprivate init(text: String) throws {
    if text.contains("/") || text.hasSuffix(".json") {
      try self.init(contentsOf: URL(filePath: text))
    } else {
      try self.init(named: text)
    }
  }
}
