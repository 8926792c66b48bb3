import Kelvin
import KelvinBasics
import KelvinMeasuring
public import KelvinVision

/// The cost of running a contender on this machine.
public struct CandidateCost: Hashable, Sendable, Codable {
  /// The total size of the model's files in bytes.
  public var bytes: Int
  /// The median time of several warm answers, from a decoded example to its answer.
  public var time: Duration
  /// The peak resident memory of a process that only loads the model and answers, in bytes; nil where no such process
  /// was measured.
  public var peakMemory: Int?
  /// The time that each device works on one answer, by device identifier; empty where it was not measured.
  public var devices: [String: Duration]
  /// Messages about devices that failed during the measurement. ``devices`` are then the ones that took over.
  public var notes: [String] = []

  /// Creates a cost from known figures.
  ///
  /// - Parameters:
  ///   - bytes: The total size of the model's files in bytes.
  ///   - time: The time of one answer.
  ///   - peakMemory: The peak resident memory of a process of the model's own, in bytes.
  ///   - devices: The time that each device works on one answer, by device identifier.
  public init(bytes: Int, time: Duration, peakMemory: Int? = nil, devices: [String: Duration] = [:]) {
    (self.bytes, self.time, self.peakMemory, self.devices) = (bytes, time, peakMemory, devices)
  }

  /// The number of timed answers, and of the warm-up answers before them.
  private static let (timed, untimed) = (15, 3)

  /// Measures a contender. Other work on the machine during the measurement distorts the result.
  ///
  /// - Parameters:
  ///   - request: The request that answers.
  ///   - question: The question to answer.
  ///   - isAlone: Whether the process has done nothing but load the model, so that its peak memory is the model's.
  /// - Throws: `VisionError.prediction` where the model fails.
  public init<Request: EvaluatedRequest>(
    of request: Request, answering question: Request.Question, isAlone: Bool = false
  ) throws(VisionError) {
    let clock = ContinuousClock()
    var times: [Duration] = []
    for index in 0..<Self.untimed + Self.timed {
      let began = clock.now
      try request.answer(question)
      if index >= Self.untimed { times.append(clock.now - began) }
    }
    bytes = request.model.fileByteCount
    time = times.sorted()[times.count / 2]
    // Read before further work of the process raises the peak.
    peakMemory = isAlone ? Model.peakResidentByteCount : nil
    do throws(ModelError) {
      devices = try request.model.deviceSeconds().mapValues(Duration.limited(seconds:))
    } catch { throw .prediction(error) }
    notes = request.model.outages
  }

  /// Each device's share of the work, the busiest first: `vulkan:0 80 %, cpu 20 %`. A single device appears by its name
  /// alone.
  var placement: String {
    let total = devices.values.reduce(.zero, +)
    let sorted = devices.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    guard sorted.count > 1, total > .zero else { return sorted.first?.key ?? "" }
    return sorted.map { "\($0.key) \(HumanReadable.percent($0.value / total, decimals: 0))" }.joined(separator: ", ")
  }
}
