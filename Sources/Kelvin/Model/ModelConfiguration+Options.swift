import FoundationEssentials
import Glibc
package import KelvinBasics
import KelvinDevices
package import KelvinEngine
package import KelvinFeatures
import KelvinGraph
package import KelvinMeasurements
import KelvinPasses
import KelvinPlanning
import KelvinReference
import KelvinRuntime
package import KelvinThermal

extension ModelConfiguration {
  /// Converts the configuration to the engine's options.
  ///
  /// - Throws: `ModelError` if a plan, profile or envelope cannot be read.
  package func options() throws(ModelError) -> LoadOptions {
    var options = LoadOptions()
    options.request = PlanRequest(
      units: computeUnits.selection, goal: goal.planned, isStrict: isStrict,
      precision: Precision(rawValue: precision.rawValue) ?? .automatic, threads: threadCount ?? defaultThreadCount,
      pins: pins, exclusions: excludedDevices, runs: max(0, expectedPredictions))
    if let expectedIterations { options.request.iterations.standard = max(0, expectedIterations) }
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
          .parameters, "deviceTimeout: expected a time above 0, got \(deviceTimeout)", fault: .request)
      }
      options.watchdog.floor = deviceTimeout.inSeconds
    }
    options.checksResults = checksDevices
    options.plansEverySize = plansEverySize
    options.limits = limits
    options.lastPass = lastPass
    options.links = links
    options.customCode = customCode
    options.allowsLinks = allowsLinks
    options.isolation = isolation
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

  /// Returns the configuration for a model: without the cache if nothing of the model may be stored.
  func storing(_ file: ReadModel) -> ModelConfiguration {
    var configuration = self
    if file.isConfidential { configuration.usesCache = false }
    return configuration
  }

  /// The budget of loading; the current task's budget if the configuration sets no limits.
  var budget: WorkBudget? { limits == .init() ? .current : WorkBudget(limits) }

  /// The limits of loading and of each prediction.
  package var limits: WorkBudget.Limits { WorkBudget.Limits(seconds: timeLimit?.inSeconds, bytes: maximumMemory) }

  /// The power budget of the plan; nil if no envelope is given and the goal is not `sustained`.
  package func powerBudget() throws(ModelError) -> PowerBudget? {
    guard thermalEnvelope != nil || goal == .sustained else { return nil }
    return PowerBudget(
      try ModelError.wrapping { try ThermalEnvelope(choosing: thermalEnvelope) }, isAssumed: thermalEnvelope == nil)
  }

  /// Reads a plan file, or the recommended plan in a benchmark's report.
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

  /// Reads a profile from a file or, if there is no such file, one that comes with Kelvin.
  package static func measuredProfile(_ path: String) throws(ModelError) -> MeasuredProfile {
    try ModelError.wrapping {
      if access(path.pathBytes, F_OK) != 0, let shipped = try ShippedProfiles.standard.profile(path) { return shipped }
      return try MeasuredProfile(json: Array(try LocalFile.read(path)), document: path)
    }
  }

  /// Returns whether the byte count of an array of this shape fits an integer.
  package static func isAddressable(_ shape: [Int]) -> Bool { Shape(shape).isAddressable }

  /// - Throws: `ModelError` with code `parameters` that lists the passes, if `pass` is not the name of a graph pass.
  package static func check(pass: String) throws(ModelError) {
    do { _ = try Pipeline.standard(ReferenceEvaluator()).stopping(after: pass) } catch {
      throw ModelError(.parameters, "\(error)", fault: .request)
    }
  }
}

/// The power that a plan for the goal `sustained` may use.
package struct PowerBudget {
  let power: PlanningProblem.Power
  /// A description such as `envelope 'server', assumed for this machine (--envelope): 250 W above idle indefinitely`.
  package let text: String

  init(_ envelope: ThermalEnvelope, isAssumed: Bool) {
    power = .init(idleWatts: envelope.idleWatts, sustainableWatts: envelope.sustainableWatts)
    let spare = HumanReadable.significant(envelope.sustainableWatts - envelope.idleWatts)
    text =
      "envelope '\(envelope.name)'\(isAssumed ? ", assumed for this machine (--envelope)" : ""): "
      + "\(spare) W above idle indefinitely"
  }
}

extension ThermalEnvelope {
  /// Chooses the envelope by name or file, else by this machine's class. A virtual machine gets a share of the
  /// envelope's power.
  package init(choosing name: String?) throws {
    let machine = MachineDescription(SystemFiles())
    self = try name.map { try ThermalEnvelope(named: $0).share(of: machine) } ?? .assumed(for: machine)
  }
}
