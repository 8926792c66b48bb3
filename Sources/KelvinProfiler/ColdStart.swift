import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

/// A compilation with empty caches, and the first run after it. Caches that a driver keeps between processes are not
/// cleared.
struct ColdStart {
  let compile: Double
  let firstRun: Double
  let compileSeconds: [String: Double]
  let nodeSeconds: [String: Double]

  init(
    _ solution: PlanSolution, _ context: ModelContext, precision: Precision, threads: Int, inputs: [Tensor],
    clock: any MeasurementClock
  ) throws {
    let log = CompilationTimer(clock: clock)
    var start = clock.now()
    let model = try context.withoutCache().compile(
      solution, precision: precision, threads: threads, observer: log.observer)
    let end = clock.now()
    compile = end - start
    compileSeconds = log.seconds(model.schedule, end: end)
    start = clock.now()
    let session = try model.makeSession(measuresNodes: true)
    _ = try session.run(inputs)
    firstRun = clock.now() - start
    nodeSeconds = session.record?.nodes.mapValues(\.secondsEach) ?? [:]
  }
}
