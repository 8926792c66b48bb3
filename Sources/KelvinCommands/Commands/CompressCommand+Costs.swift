import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinCompression
import KelvinMeasuring

extension CompressCommand {
  /// The number of copies with one form for all weights that are measured besides.
  private static let formCount = 2

  /// The devices that `--units` names, or all of the machine.
  private var measuredDevices: [String] {
    switch units.units {
    case .cpuOnly: ["cpu"]
    case .devices(let names): names
    case .all, .cpuAndGPU, .cpuAndNeuralEngine: DeviceReport().rows.filter(\.available).map(\.id)
    }
  }

  /// Measures the original, the copy, and copies that have one of its most used forms for all weights, on each device,
  /// each in a process of its own.
  func costs(_ compressor: ModelCompressor, _ chosen: [WeightForm]) throws -> [CopyCost] {
    let folder = try ScratchFolder("kelvin-compress")
    defer { folder.remove() }
    let progress = Progress("measuring devices")
    defer { progress.finish() }
    var shares: [WeightForm: Int] = [:]
    for (form, weight) in zip(chosen, compressor.weights) where form != .original {
      shares[form, default: 0] += weight.byteCount
    }
    let forms = shares.sorted { ($1.value, $0.key.description) < ($0.value, $1.key.description) }.map(\.key)
    var copies = [("original", model), ("copy", copy)]
    var sizes = [compressor.byteCount, try compressor.byteCount(chosen)]
    for form in forms.prefix(Self.formCount) where Set(chosen) != [form] {
      let path = "\(folder.path)/\(copies.count).\(compressor.system == nil ? "onnx" : "mlpackage")"
      sizes.append(try compressor.write(compressor.weights.map { _ in form }, to: URL(filePath: path)))
      copies.append((form.description, path))
    }
    let devices = measuredDevices
    var costs: [CopyCost] = []
    for (place, (name, path)) in copies.enumerated() {
      var cost = CopyCost(name: name, byteCount: sizes[place])
      for (index, device) in devices.enumerated() {
        progress.update(
          Double(place * devices.count + index) / Double(copies.count * devices.count), "\(name), \(device)")
        do throws(StartFailure) {
          cost.devices.append(
            try CandidateMeter.measure(["--measured-copy=\(path)", "--measured-device=\(device)"]))
        } catch { Console.note("the \(name) could not be measured on \(device): \(error)") }
      }
      costs.append(cost)
    }
    return costs
  }

  /// The number of timed predictions in a process, and of those before them.
  private static let (timed, untimed) = (9, 2)

  /// Measures one model on one device, in the child process that `CandidateMeter` starts.
  func measure(_ path: String) throws {
    ChildProcess.endWithParent()
    let device = measuredDevice ?? "cpu"
    var configuration = try options.configuration(units: ComputeUnits(argument: device))
    configuration.usesCache = false
    let model = try Model(contentsOf: URL(filePath: path), configuration: configuration)
    let input = try model.completed(DictionaryFeatureProvider(dictionary: [:]), seed: 0).values
    var times: [Double] = []
    for round in 0..<Self.untimed + Self.timed {
      let seconds = try model.timedPrediction(from: input).seconds
      if round >= Self.untimed { times.append(seconds) }
    }
    try CandidateMeter.answer(
      CopyCost.Device(
        device: device, seconds: times.sorted()[times.count / 2], peakMemory: Model.peakResidentByteCount))
  }
}
