public import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinBench
import KelvinEngine
public import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
import KelvinReport
import KelvinRuntime
import KelvinThermal
import Synchronization

extension Benchmark {
  /// A thermal envelope of this machine, fitted to the machine's sensors.
  public struct ThermalCalibration: Sendable {
    let calibration: KelvinThermal.ThermalCalibration

    /// The fitted coefficients as lines, each with its source and uncertainty.
    package var lines: [String] {
      let envelope = calibration.envelope
      let values = [
        "fast.tau": HumanReadable.seconds(envelope.fast.tau), "slow.tau": HumanReadable.seconds(envelope.slow.tau),
        "fast.weight": HumanReadable.fixed(envelope.fast.weight, decimals: 2),
        "slow.weight": HumanReadable.fixed(envelope.slow.weight, decimals: 2),
        "idleWatts": "\(HumanReadable.significant(envelope.idleWatts)) W",
        "sustainableWatts": "\(HumanReadable.significant(envelope.sustainableWatts)) W",
        "fullLoadWatts": "\(HumanReadable.significant(envelope.fullLoadWatts)) W",
      ]
      return [envelope.summary, ""]
        + ThermalEnvelope.coefficients.flatMap { name in
          "\(name)  \(values[name] ?? "")  \(envelope.sources[name] ?? "")".wrapped(hangingIndent: 2)
        } + calibration.remarks.flatMap { "note: \($0)".wrapped(hangingIndent: 2) }
    }

    /// Returns the envelope as its file's JSON.
    public func json() throws(ModelError) -> Data {
      Data(try ModelError.wrapping { try calibration.envelope.json() })
    }

    /// Writes the envelope, for `Benchmark.thermalEnvelope` and `ThermalMonitor`.
    ///
    /// - Throws: `ModelError` with code `io` if the file cannot be written.
    public func write(to url: URL) throws(ModelError) {
      let bytes = [UInt8](try json())
      try LocalFile.write(bytes + [0x0A], to: url.relativePath)
    }
  }

  /// Fits a thermal envelope to this machine: the machine rests, runs the first configuration at full load, and rests
  /// again, while temperature and power are recorded.
  ///
  /// - Parameters:
  ///   - url: the model to run as the load.
  ///   - name: the envelope's name.
  ///   - seconds: the duration of full load; the whole calibration takes twice as long.
  ///   - listener: first called with a description of the procedure and its duration.
  /// - Throws: `ModelError` with code `device` if no sensor responds or the load does not reach the sensors' domain,
  ///   `parameters` if the load was too short, `predictionCancelled` if the task was cancelled, and as `Model.load`
  ///   does.
  package func calibrate(
    _ url: URL, name: String, seconds: Double?, listener: MeasurementListener
  ) async throws(ModelError) -> ThermalCalibration {
    let benchmark = self
    return try await BlockingWork.run { (cancellation) throws(ModelError) -> ThermalCalibration in
      try benchmark.calibrate(
        url, name, CalibrationSchedule(load: seconds ?? CalibrationSchedule.usualLoad), cancellation, listener)
    }
  }

  private func calibrate(
    _ url: URL, _ name: String, _ schedule: CalibrationSchedule, _ cancellation: Cancellation,
    _ listener: MeasurementListener
  ) throws(ModelError) -> ThermalCalibration {
    guard let configuration = configurations.first?.configuration else {
      throw ModelError(.parameters, "a calibration needs a configuration to load the machine with")
    }
    guard schedule.load >= CalibrationSchedule.shortestLoad, schedule.load <= 86_400 else {
      throw ModelError(
        .parameters,
        "\(HumanReadable.seconds(schedule.load)) of load: expected"
          + " \(HumanReadable.seconds(CalibrationSchedule.shortestLoad)) to a day", fault: .request)
    }
    let assumed = try ModelError.wrapping { try ThermalEnvelope(choosing: thermalEnvelope) }
    let recorder = CalibrationRecorder()
    // Sensors are checked before the model is read, so that a machine without sensors fails at once.
    let sensors = try Self.calibrating { try recorder.sensors() }
    let subject = try MeasuredSubject(url, configuration, nil, seed: seed, note: listener.note)
    return try ModelError.wrapping {
      let load = try ModelLoad(subject.loaded, try subject.inputs())
      listener.note(
        "calibrating by \(sensors): \(HumanReadable.seconds(schedule.rest)) of rest,"
          + " \(HumanReadable.seconds(schedule.load)) of full load and \(HumanReadable.seconds(schedule.cooling)) of"
          + " rest, in all \(HumanReadable.seconds(schedule.seconds)); run nothing else meanwhile")
      let recording = try Self.calibrating {
        try recorder.record(
          schedule, setLoad: { if $0 { load.start() } else { try load.stop() } },
          look: { at, phase in
            try cancellation.check()
            listener.step(
              MeasurementStep(
                progress: MeasurementProgress(
                  phase: "calibration, \(phase.rawValue)", fraction: at / schedule.seconds,
                  secondsLeft: schedule.seconds - at)))
          })
      }
      return ThermalCalibration(
        calibration: try Self.calibrating {
          try KelvinThermal.ThermalCalibration(
            recording, name: name, assuming: assumed, machine: MachineDescription(SystemFiles()),
            date: ReportDate.now())
        })
    }
  }

  private static func calibrating<Value>(_ body: () throws -> Value) throws(ModelError) -> Value {
    try ModelError.wrapping {
      do { return try body() } catch let error as CalibrationError {
        if case .tooShort = error { throw ModelError(.parameters, error.description, fault: .request) }
        throw ModelError(.device, error.description)
      }
    }
  }
}

/// Runs inferences of a model continuously on a separate thread.
private final class ModelLoad {
  /// Used by one thread at a time: the caller's before `start`, the worker's until `stop`.
  private final class Work: @unchecked Sendable {
    let session: Session
    let isStopped = Atomic(true)
    let failure = Mutex<RuntimeError?>(nil)

    init(_ session: Session) { self.session = session }

    func run() {
      do throws(RuntimeError) {
        while !isStopped.load(ordering: .acquiring) { try session.run() }
      } catch {
        failure.withLock { $0 = error }
      }
    }
  }

  private let work: Work
  private var thread: WorkerThread?

  init(_ model: LoadedModel, _ inputs: [Tensor]) throws {
    let session = try model.shown.compile(try model.shown.explain()).makeSession()
    _ = try session.run(inputs)
    work = Work(session)
  }

  func start() {
    guard thread == nil else { return }
    work.isStopped.store(false, ordering: .releasing)
    thread = WorkerThread { [work] in work.run() }
  }

  /// - Throws: the error that ended the load early.
  func stop() throws {
    work.isStopped.store(true, ordering: .releasing)
    thread?.join()
    thread = nil
    if let error = work.failure.withLock(\.self) { throw error }
  }
}
