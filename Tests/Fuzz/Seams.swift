import FoundationEssentials
import Glibc
import KelvinBench
import KelvinDevices
import KelvinFormats
import KelvinGraph
import KelvinImages
import KelvinMeasurements
import KelvinPasses
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import KelvinThermal

/// A place where bytes from outside come in.
struct Seam: Sendable {
  /// What its bytes are, for those who change them.
  enum Grammar: Sendable { case bytes, wire, json }

  let name: String
  let grammar: Grammar
  /// Takes the bytes to their end: a value, or one of the module's own errors. Anything else stops the fuzzer.
  let feed: @Sendable (UnsafeRawBufferPointer) -> Void

  private init<Failure: Error & CustomStringConvertible>(
    _ name: String, _ failure: Failure.Type, _ grammar: Grammar = .bytes,
    _ read: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
  ) {
    self.name = name
    self.grammar = grammar
    feed = { bytes in
      do { try read(bytes) } catch let error as Failure { precondition(!error.description.isEmpty) } catch {
        fatalError("\(name): \(type(of: error)) is not its module's error: \(error)")
      }
    }
  }

  /// The weight file of a package.
  private init(weightsOf package: String, _ name: String) {
    self.init(name, FormatError.self) { bytes in
      let model = "\(package)/model.mlmodel"
      let folder = "\(scratchFolder)/weights"
      mkdir(folder, 0o755)
      write(bytes, to: "\(folder)/weight.bin")
      try build(readCoreML(Bytes(mapping: model), path: model, folder: scratchFolder, files: []))
    }
  }

  static let onnx = Seam("onnx", FormatError.self, .wire) { bytes in
    try build(readONNX(Bytes(copying: bytes), path: "/nonexistent/model.onnx"))
  }

  static let coreML = Seam("coreml", FormatError.self, .wire) { bytes in
    try build(readCoreML(Bytes(copying: bytes), path: "model.mlmodel", folder: compressedPackage, files: []))
  }

  static let weights = Seam(weightsOf: "Examples/Digits/Digits.mlpackage/Data/com.apple.CoreML", "weights")

  static let compressedWeights = Seam(weightsOf: compressedPackage, "compressed")

  /// The manifest of a package.
  static let manifest = Seam("manifest", FormatError.self, .json) { bytes in
    write(bytes, to: "\(scratchFolder)/Manifest.json")
    _ = try readModel(at: scratchFolder)
  }

  static let npy = Seam("npy", FormatError.self) { bytes in
    _ = try NPY.read(Bytes(copying: bytes), name: "array.npy").doubles
  }

  static let image = Seam("image", ImageError.self) { bytes in
    _ = try ImageFile.decode(bytes, name: "picture", maximumPixels: 1 << 20)
  }

  static let problem = Seam("problem", PlanningError.self, .json) { bytes in
    guard bytes.count < 1 << 12 else { return }
    _ = try PlanningProblem(json: Data(bytes)).explain()
  }

  static let plan = Seam("plan", PlanningError.self, .json) { bytes in _ = try Plan(json: Data(bytes)) }

  static let profile = Seam("profile", MeasurementError.self, .json) { bytes in
    _ = try MeasuredProfile(json: Array(bytes), document: "profile.json").json()
  }

  static let envelope = Seam("envelope", MeasurementError.self, .json) { bytes in
    _ = try ThermalEnvelope(json: Array(bytes), document: "envelope.json").model()
  }

  static let workload = Seam("workload", BenchmarkError.self, .json) { bytes in
    _ = try Workload(json: Data(bytes), document: "workload.json")
  }

  static let journal = Seam("journal", BenchmarkError.self, .json) { bytes in
    _ = try BenchmarkJournal.read(Data(bytes))
  }

  static let graph = Seam("graph", GraphError.self) { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    // What was read is written as a text that reads as the same.
    let graph = try Graph(parsing: text, weights: [:])
    let again = try Graph(parsing: graph.description, weights: [:])
    precondition(again.description == graph.description, graph.description)
  }

  static let link = Seam("link", RuntimeError.self) { bytes in
    _ = try LinkOverride(String(decoding: bytes, as: UTF8.self), devices: ["cpu", "vulkan:0"])
  }

  /// Every file of sensors with the same text.
  static let sensors = Seam("sensors", MeasurementError.self) { bytes in
    for path in sensorFiles { write(bytes, to: path) }
    var snapshot = SensorSnapshot()
    for reader in sensorReaders { reader.read(SystemFiles(root: sensorFolder), into: &snapshot) }
  }

  static let blob = Seam("blob", DeviceError.self) { bytes in
    _ = CheckedBlob.payload(of: Bytes(copying: bytes), origin: Digest("origin"))
  }
}

/// Every seam; `Fuzz NAME` runs one.
let seams: [Seam] = [
  .onnx, .coreML, .weights, .compressedWeights, .manifest, .npy, .image, .problem, .plan, .profile, .envelope,
  .workload, .blob, .journal, .graph, .link, .sensors,
]

/// Builds the graph of every function and runs the passes: what loading a model does before any device is asked.
private func build(_ program: ModelProgram) throws {
  for (_, function) in program.functions.sorted(by: { $0.key < $1.key }) {
    do {
      for graph in try function.builtGraphs(shapes: [:], evaluator: ReferenceEvaluator()).compactMap(\.graph) {
        try Pipeline.standard(ReferenceEvaluator()).run(graph).graph.verify()
      }
    } catch let error as GraphError {
      precondition(!error.reason.contains("broke the graph"), error.description)
    }
  }
}

/// A program with a constant of every compressed encoding.
private let compressedPackage = "Tests/CompressedWeights/constexpr_ios18.mlpackage/Data/com.apple.CoreML"

/// A folder of this process's own, in memory.
private let scratchFolder: String = {
  let path = "/dev/shm/kelvin-fuzz-\(getpid())"
  mkdir(path, 0o755)
  return path
}()

private let sensorFolder = "\(scratchFolder)/machine"

private let sensorFiles: [String] = {
  let names = [
    "sys/class/hwmon/hwmon0": ["name", "temp1_input", "temp1_label", "temp1_max", "temp1_crit", "power1_average"],
    "sys/class/thermal/thermal_zone0": ["type", "temp", "trip_point_0_temp", "trip_point_0_type"],
    "sys/class/powercap/intel-rapl:0": [
      "name", "energy_uj", "max_energy_range_uj", "constraint_0_name", "constraint_0_power_limit_uw",
    ],
    "sys/devices/system/cpu/cpu0/thermal_throttle": ["core_throttle_count", "package_throttle_count"],
  ]
  return names.flatMap { folder, files in
    var path = sensorFolder
    mkdir(path, 0o755)
    for part in folder.split(separator: "/") {
      path += "/\(part)"
      mkdir(path, 0o755)
    }
    return files.map { "\(path)/\($0)" }
  }
}()

private func write(_ bytes: UnsafeRawBufferPointer, to path: String) {
  guard let file = fopen(path, "w") else { return }
  fwrite(bytes.baseAddress, 1, bytes.count, file)
  fclose(file)
}
