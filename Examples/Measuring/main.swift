import FoundationEssentials
import Kelvin
import KelvinMeasuring

// Usage: Measuring MODEL [FOLDER]. Profiles and plans a model, compares compute units for a stream, and monitors the
// heat.
let url = URL(filePath: CommandLine.arguments[1])
let folder = URL(filePath: CommandLine.arguments.count > 2 ? CommandLine.arguments[2] : ".")

func profile() async throws {
  var profiler = Profiler()
  profiler.budget = .seconds(2)
  let profile = try await profiler.profile(contentsOf: url)
  for run in profile.devices {
    print("\(run.device): \(run.latency.median), \(run.account.residual / run.account.total) of it unexplained")
  }
  try profile.save(to: folder.appending(path: "profile.json"))
}

func plan() async throws {
  var configuration = ModelConfiguration(computeUnits: .all)
  configuration.profile = folder.appending(path: "profile.json")
  let plan = try await ComputePlan.load(contentsOf: url, configuration: configuration)
  for layer in plan.layers where layer.usage.regret ?? .zero > plan.predicted / 10 {
    print(
      layer.name, layer.device, layer.usage.reason,
      layer.costs.map { "\($0.device): \($0.time?.description ?? "unsupported")" })
  }
  try plan.save(to: folder.appending(path: "plan.json"))
}

func askByOperation(_ plan: ComputePlan) {
  guard case .program(let program) = plan.modelStructure, let main = program.functions["main"] else { return }
  for operation in main.block.operations {
    guard let usage = plan.deviceUsage(for: operation), let cost = plan.estimatedCost(of: operation) else { continue }
    print(operation.operatorName, usage.preferred, usage.supported, cost.weight, cost.isMeasured)
  }
}

func compare() async throws {
  let benchmark = Benchmark(workload: .stream(framesPerSecond: 30, duration: .seconds(5)), units: [.cpuOnly, .all])
  let result = try await benchmark.run(contentsOf: url)
  print(result.verdict)
  for row in result.configurations {
    print(row.label, row.latency?.median ?? .zero, row.joules ?? .nan, row.comparison)
  }
  try Data(result.htmlReport().utf8).write(to: folder.appending(path: "report.html"))
  try result.savePlan(to: folder.appending(path: "plan.json"))
}

func useThePlan() async throws -> Model {
  var configuration = ModelConfiguration(computeUnits: .all)
  configuration.plan = folder.appending(path: "plan.json")
  return try await Model.load(contentsOf: url, configuration: configuration)
}

func watch() async throws {
  let monitor = try ThermalMonitor()
  for await reading in monitor.readings(every: .seconds(1)) {
    print("\(reading.state), headroom \(reading.headroom), by \(reading.source)")
    if let limit = reading.timeToLimit { print("at the limit in \(limit)") }
    if monitor.forecast(after: .seconds(60)) >= 1 {
      print("too hot within a minute at this load: lower the frame rate")
    }
  }
}

func answer(_ image: PixelBuffer, with model: Model) async throws {
  let stream = try await FrameStream(model, options: .init(deadline: .milliseconds(100), isGoverned: true))
  let watching = Task {
    for await action in stream.actions { print("at \(action.time): \(action)") }
  }
  let pushing = Task {
    for _ in 0..<90 {
      stream.push(image)
      try await Task.sleep(for: .milliseconds(33))
    }
    stream.finish()
  }
  for try await answer in stream.answers {
    print(answer.number, answer.latency, answer.isLate ? "late" : "in time", try answer.features().featureNames)
  }
  print(stream.counts)
  try await pushing.value
  await watching.value
}

let watching = Task { try await watch() }
try await profile()
try await plan()
try await compare()
let model = try await useThePlan()
askByOperation(model.computePlan)
if let camera = model.modelDescription.inputDescriptionsByName.values.compactMap(\.imageConstraint).first {
  let (width, height) = (camera.pixelsWide, camera.pixelsHigh)
  let grey = [UInt8](repeating: 128, count: 3 * width * height)
  try await answer(PixelBuffer(width: width, height: height, format: .rgb8, bytes: grey), with: model)
}
watching.cancel()
