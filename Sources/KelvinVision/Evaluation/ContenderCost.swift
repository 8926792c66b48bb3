#if Collections
import Kelvin
import KelvinBasics

/// What a contender takes on this machine.
public struct ContenderCost: Hashable, Sendable, Codable {
  /// Of the model's files together.
  public var bytes: Int
  /// From an example that is read to its answer, warm: the median of some.
  public var seconds: Double
  /// The most memory that a process has resident which loads the model and answers, in bytes; nil where none was measured
  /// alone.
  public var peakMemory: Int?
  /// Seconds that each device is at work in one answer, by its identifier; empty where that was not measured.
  public var devices: [String: Double]

  /// What a contender takes.
  ///
  /// - Parameters:
  ///   - bytes: of the model's files.
  ///   - seconds: of one answer.
  ///   - peakMemory: of a process of its own.
  ///   - devices: seconds at work in one answer, by identifier.
  public init(bytes: Int, seconds: Double, peakMemory: Int? = nil, devices: [String: Double] = [:]) {
    (self.bytes, self.seconds, self.peakMemory, self.devices) = (bytes, seconds, peakMemory, devices)
  }

  /// Answers that are timed, behind those that warm up.
  private static let (timed, untimed) = (15, 3)

  /// Measured here and now; nothing else should be at work meanwhile.
  ///
  /// - Parameters:
  ///   - request: what is asked.
  ///   - question: about what.
  ///   - isAlone: whether the process has done nothing but load the model, so that its memory is the model's.
  /// - Throws: `VisionError.prediction` where the model fails.
  public init<Request: EvaluatedRequest>(
    of request: Request, answering question: Request.Question, isAlone: Bool = false
  ) throws(VisionError) {
    let clock = ContinuousClock()
    var seconds: [Double] = []
    for index in 0..<Self.untimed + Self.timed {
      let began = clock.now
      try request.answer(question)
      if index >= Self.untimed { seconds.append((clock.now - began).inSeconds) }
    }
    bytes = request.model.fileByteCount
    self.seconds = seconds.sorted()[seconds.count / 2]
    // Before anything else takes memory.
    peakMemory = isAlone ? Model.peakResidentByteCount : nil
    do throws(ModelError) { devices = try request.model.deviceSeconds() } catch { throw .prediction(error) }
  }

  /// Each device's part of the work, the busiest first: `vulkan:0 80 %, cpu 20 %`; of one device its name alone.
  var placement: String {
    let total = devices.values.reduce(0, +)
    let sorted = devices.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    guard sorted.count > 1, total > 0 else { return sorted.first?.key ?? "" }
    return sorted.map { "\($0.key) \(HumanReadable.percent($0.value / total, decimals: 0))" }.joined(separator: ", ")
  }
}
#endif
