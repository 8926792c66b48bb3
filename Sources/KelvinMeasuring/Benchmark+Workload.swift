public import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinBench
public import KelvinFeatures
import KelvinProfiler

extension Benchmark {
  /// The pattern of inferences that a model runs while it is measured.
  public struct Workload: Hashable, Sendable, CustomStringConvertible {
    /// The order and timing of inferences.
    public enum Kind: String, Hashable, Sendable {
      /// A cold start, then consecutive inferences; each begins when the previous one is done.
      case oneShot = "one-shot"
      /// Frames arrive at a fixed rate, whether or not the previous frame is done.
      case stream
      /// As many inferences as possible within a duration.
      case throughput
      /// A decoder reads a prompt and generates tokens, one sequence after another.
      case tokens
    }

    var value: KelvinBench.Workload

    /// Creates a workload from its name (`one-shot`, `stream`, `throughput`, `tokens`) or the path of its file.
    ///
    /// - Throws: `ModelError` with code `parameters` if there is no workload of that name, or the file is not a workload.
    public init(named name: String) throws(ModelError) {
      value = try ModelError.measuring { try KelvinBench.Workload(named: name) }
    }

    /// Reads a workload from a file in the format of `Profiles/workloads/`.
    ///
    /// - Throws: `ModelError` with code `parameters` if the file cannot be read or is invalid.
    public init(contentsOf url: URL) throws(ModelError) {
      value = try ModelError.measuring {
        try KelvinBench.Workload(named: url.path.hasPrefix("/") ? url.path : "./\(url.path)")
      }
    }

    private init(_ kind: KelvinBench.Workload.Kind) {
      value = workloads.first { $0.kind == kind } ?? KelvinBench.Workload(name: kind.rawValue, kind: kind)
    }

    /// Cold starts, then warm inferences by the rules of MLPerf's SingleStream scenario.
    public static var oneShot: Workload { Workload(.oneShot) }

    /// Frames that arrive at a steady rate, such as a camera's. Old frames are dropped in favor of new ones.
    ///
    /// - Parameters:
    ///   - framesPerSecond: the arrival rate.
    ///   - duration: the time for each configuration.
    ///   - queue: the number of frames that may wait. When one more arrives, the oldest waiting frame is dropped.
    public static func stream(framesPerSecond: Double = 30, duration: Duration = .seconds(20), queue: Int = 1)
      -> Workload
    {
      var workload = Workload(.stream)
      workload.value.framesPerSecond = framesPerSecond
      workload.duration = duration
      workload.value.queue = queue
      return workload
    }

    /// As many inferences as possible, such as for a folder of images.
    ///
    /// - Parameter duration: the time for each configuration.
    public static func throughput(duration: Duration = .seconds(20)) -> Workload {
      var workload = Workload(.throughput)
      workload.duration = duration
      return workload
    }

    /// A decoder: the time to the first token, then tokens per second as the sequence grows.
    ///
    /// - Parameters:
    ///   - prompt: the number of tokens in the prompt.
    ///   - count: the number of tokens to generate.
    ///   - duration: the time for each configuration, in which one sequence follows another.
    public static func tokens(_ count: Int = 128, prompt: Int = 32, duration: Duration = .seconds(20)) -> Workload {
      var workload = Workload(.tokens)
      workload.value.prompt = prompt
      workload.value.tokens = count
      workload.duration = duration
      return workload
    }

    /// The workload's name.
    public var name: String { value.name }
    /// The order and timing of inferences.
    public var kind: Kind { Kind(rawValue: value.kind.rawValue) ?? .oneShot }
    /// The arrival rate; only for streams.
    public var framesPerSecond: Double {
      get { value.framesPerSecond }
      set { value.framesPerSecond = newValue }
    }
    /// The time of a stream, throughput or token workload for each configuration.
    public var duration: Duration {
      get { Duration.limited(seconds: value.duration) }
      set { value.duration = newValue.inSeconds }
    }
    /// The number of starts of each configuration with an empty cache.
    public var coldStarts: Int {
      get { value.coldStarts }
      set { value.coldStarts = newValue }
    }
    /// The number of starts of each configuration with a warm cache.
    public var starts: Int {
      get { value.starts }
      set { value.starts = newValue }
    }
    /// The minimum number of consecutive warm inferences of each configuration.
    public var iterations: Int {
      get { value.iterations }
      set { value.iterations = newValue }
    }
    /// The number of rounds into which the warm inferences are divided and which are compared with each other.
    public var rounds: Int {
      get { value.rounds }
      set { value.rounds = newValue }
    }
    /// The minimum time of warm inferences of each configuration.
    public var warmTime: Duration {
      get { Duration.limited(seconds: value.warmSeconds) }
      set { value.warmSeconds = newValue.inSeconds }
    }
    /// The number of concurrent inferences of a throughput workload; 0 to find the best number by trial.
    public var inFlight: Int {
      get { value.inFlight }
      set { value.inFlight = newValue }
    }
    /// The number of tokens in the prompt; only for token workloads.
    public var promptCount: Int {
      get { value.prompt }
      set { value.prompt = newValue }
    }
    /// The number of generated tokens, including the first; only for token workloads.
    public var tokenCount: Int {
      get { value.tokens }
      set { value.tokens = newValue }
    }
    /// Whether a stream's governor may lower the rate, drop frames or switch to a cheaper plan when the machine gets hot.
    public var isGoverned: Bool {
      get { value.isGoverned }
      set { value.isGoverned = newValue }
    }
    /// The share of a device, 0 ..< 1, that stays free for other work, by the device's identifier.
    public var reservedShares: [String: Double] {
      get { value.reserve }
      set { value.reserve = newValue }
    }
    /// The share of a device, 0 ..< 1, that a synthetic load uses all the time, by the device's identifier. It stands for
    /// other work such as drawing the user interface.
    public var otherLoad: [String: Double] {
      get { value.coload }
      set { value.coload = newValue }
    }
    /// The bytes per second that a synthetic load reads or writes in main memory.
    public var otherMemoryTraffic: Double {
      get { value.memoryTraffic }
      set { value.memoryTraffic = newValue }
    }
    /// The bytes that a synthetic load keeps in the caches.
    public var otherCachePressure: Int {
      get { value.cachePressure }
      set { value.cachePressure = newValue }
    }
    /// Adds a synthetic load in the syntax of `--coload`: `cpu` to `0.3`, `memory` to `4GB/s`, `cache` to `16MB`.
    ///
    /// - Returns: a description of the expected value if `text` is invalid; nil on success.
    package mutating func setOtherLoad(_ name: String, to text: String) -> String? {
      value.otherLoad.set(name, to: text)
    }
    /// A description such as `stream: 30 frames/s for 20 s, 1 frame may wait`.
    public var description: String { value.description }

    /// - Parameter isAsked: whether the caller gave the numbers, instead of a file.
    /// - Throws: `ModelError` with code `parameters` for an invalid number.
    package func check(isAsked: Bool) throws(ModelError) {
      do { try value.validate(document: "'\(name)'") } catch {
        throw ModelError(.parameters, error.description, fault: isAsked ? .request : .data)
      }
    }
  }
}
