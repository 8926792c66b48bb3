import FoundationEssentials
import Glibc
import KelvinBasics
import KelvinDevices
import KelvinEngine
package import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
import KelvinPasses
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import KelvinThermal

extension ModelConfiguration {
  /// What the engine is told.
  ///
  /// - Throws: `ModelError` where a plan, profile or envelope cannot be read.
  func options() throws(ModelError) -> LoadOptions {
    var options = LoadOptions()
    options.request = PlanRequest(
      units: computeUnits.selection, goal: goal.planned, isStrict: isStrict,
      precision: Precision(rawValue: precision.rawValue) ?? .automatic, threads: threadCount ?? defaultThreadCount,
      pins: pins, exclusions: excludedDevices, runs: max(0, expectedPredictions))
    if let expectedTrips { options.request.trips.standard = max(0, expectedTrips) }
    options.request.power = try powerBudget()?.power
    options.isThreadCountGiven = threadCount != nil
    options.function = functionName
    options.part = graphName
    options.shapes = inputShapes.mapValues { Shape($0) }
    options.isDeterministic = isDeterministic
    options.tuning = KernelTuning(KernelTuning.Mode(rawValue: tuning.rawValue) ?? .automatic)
    if let deviceTimeout {
      guard deviceTimeout > .zero else {
        throw ModelError(
          .parameters, "deviceTimeout: expected more than no time, got \(deviceTimeout)", fault: .request)
      }
      options.watchdog.floor = deviceTimeout.inSeconds
    }
    options.plansEverySize = plansEverySize
    options.limits = limits
    options.lastPass = lastPass
    options.links = links
    options.allowsLinks = allowsLinks
    options.allowsWhatIf = allowsWhatIf
    if !usesCache {
      options.cacheDirectory = nil
    } else if let cacheDirectory {
      options.cacheDirectory = cacheDirectory.relativePath
    }
    options.plan = try plan.map { url throws(ModelError) in try Self.savedPlan(url.relativePath) }
    options.profile = try profile.map { url throws(ModelError) in try Self.measuredProfile(url.relativePath) }
    return options
  }

  /// Of one loading; that around it where there are no limits of the model's own.
  var budget: WorkBudget? { limits == .init() ? .current : WorkBudget(limits) }

  /// What loading may take, and each prediction.
  var limits: WorkBudget.Limits { WorkBudget.Limits(seconds: maximumSeconds, bytes: maximumMemory) }

  /// The power that the goal may spend; nil where nothing was said and the goal asks for none.
  func powerBudget() throws(ModelError) -> PowerBudget? {
    guard thermalEnvelope != nil || goal == .sustained else { return nil }
    return PowerBudget(
      try ModelError.wrapping { try ThermalEnvelope(choosing: thermalEnvelope) }, isAssumed: thermalEnvelope == nil)
  }

  /// A plan, or the plan inside a bench's report: the one its verdict chose.
  private static func savedPlan(_ path: String) throws(ModelError) -> Plan {
    struct Report: Decodable {
      struct Configuration: Decodable {}
      var configurations: [Configuration]
      var plan: Plan
    }
    let data = try LocalFile.read(path)
    let bytes = (try? JSONText.decode(Report.self, from: data)).flatMap { try? $0.plan.json() } ?? data
    do { return try Plan(json: bytes) } catch { throw ModelError(.parameters, "\(error) ('\(path)')") }
  }

  /// A profile from a file or, where there is no such file, of those that come with Kelvin.
  static func measuredProfile(_ path: String) throws(ModelError) -> MeasuredProfile {
    try ModelError.wrapping {
      if access(path.pathBytes, F_OK) != 0, let shipped = try ShippedProfiles.standard.profile(path) { return shipped }
      return try MeasuredProfile(json: Array(try LocalFile.read(path)), document: path)
    }
  }

  /// Whether an array of this shape has a size that can be counted.
  package static func isAddressable(_ shape: [Int]) -> Bool { Shape(shape).isAddressable }

  /// - Throws: `ModelError` with code `parameters` that lists them where a pass is not one of the passes over a graph.
  package static func check(pass: String) throws(ModelError) {
    do { _ = try Pipeline.standard(ReferenceEvaluator()).stopping(after: pass) } catch {
      throw ModelError(.parameters, "\(error)", fault: .request)
    }
  }
}

/// The power that a plan for the goal `sustained` may spend.
struct PowerBudget {
  let power: PlanningProblem.Power
  /// `envelope 'server', assumed for this machine (--envelope): 250 W above idle for ever`.
  let text: String

  init(_ envelope: ThermalEnvelope, isAssumed: Bool) {
    power = .init(idleWatts: envelope.idleWatts, sustainableWatts: envelope.sustainableWatts)
    let spare = HumanReadable.significant(envelope.sustainableWatts - envelope.idleWatts)
    text =
      "envelope '\(envelope.name)'\(isAssumed ? ", assumed for this machine (--envelope)" : ""): "
      + "\(spare) W above idle for ever"
  }
}

extension ThermalEnvelope {
  /// The envelope of a name or a file, else that of this machine's class; a guest has its share of it.
  init(choosing name: String?) throws {
    let machine = MachineDescription(SystemFiles())
    self = try name.map { try ThermalEnvelope(named: $0).share(of: machine) } ?? .assumed(for: machine)
  }
}
