import FoundationEssentials
import Kelvin
import KelvinMeasuring

extension BenchCommand {
  /// Measures and writes an envelope of this machine. Nothing is written if the measurement fails.
  func fitEnvelope(to file: String) throws {
    guard try Benchmark.Workload(named: measured.workload).kind == .stream else {
      throw UsageError("--calibrate is for a stream, not for \(measured.workload)")
    }
    var benchmark = Benchmark(
      workload: try Benchmark.Workload(named: measured.workload), configurations: try configurations())
    benchmark.thermalEnvelope = heat.envelope
    benchmark.seed = options.seed ?? 0
    let name = URL(filePath: file).deletingPathExtension().lastPathComponent
    let calibration = try measuring("bench") { [benchmark, model, duration = measured.duration] listener in
      try await benchmark.calibrate(URL(filePath: model), name: name, seconds: duration, listener: listener)
    }
    // The results are printed before the file is written, because writing may fail.
    if output.json {
      printJSON(try calibration.json())
    } else {
      Console.print(lines: calibration.lines)
    }
    try calibration.write(to: URL(filePath: file))
    Console.note("the envelope is in '\(file)'; use it with --envelope")
  }
}
