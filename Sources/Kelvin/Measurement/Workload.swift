#if Measuring
public import FoundationEssentials
import KelvinBench
public import KelvinFeatures
import KelvinProfiler

/// What a model is asked to do while it is measured.
public struct Workload: Hashable, Sendable, CustomStringConvertible {
  /// How inferences follow one another.
  public enum Kind: String, Hashable, Sendable {
    /// Start, answer, then one inference after the other, the next as soon as the last is done.
    case oneShot = "one-shot"
    /// Frames arrive at a fixed rate, whether or not the last one is done.
    case stream
    /// As many inferences as will go, for a time.
    case throughput
    /// A decoder reads a prompt and makes tokens, one sequence after another.
    case tokens
  }

  var value: KelvinBench.Workload

  /// A workload by its name (`one-shot`, `stream`, `throughput`, `tokens`), or by the path of its file.
  ///
  /// - Throws: `ModelError` with code `parameters` where there is none of that name, or the file is not a workload.
  public init(named name: String) throws(ModelError) {
    value = try ModelError.measuring { try KelvinBench.Workload(named: name) }
  }

  /// A workload from a file, as `Profiles/workloads/` has them.
  ///
  /// - Throws: `ModelError` with code `parameters` where the file cannot be read or means nothing.
  public init(contentsOf url: URL) throws(ModelError) {
    value = try ModelError.measuring {
      try KelvinBench.Workload(named: url.path.hasPrefix("/") ? url.path : "./\(url.path)")
    }
  }

  private init(_ kind: KelvinBench.Workload.Kind) {
    value = workloads.first { $0.kind == kind } ?? KelvinBench.Workload(name: kind.rawValue, kind: kind)
  }

  /// One photo, then more: complete starts, then warm inferences by the rules of MLPerf's SingleStream scenario.
  public static var oneShot: Workload { Workload(.oneShot) }

  /// A camera: frames arrive at a steady rate, and an old frame is worth nothing.
  ///
  /// - Parameters:
  ///   - framesPerSecond: arrivals a second.
  ///   - duration: seconds for each configuration.
  ///   - queue: frames that may wait; when one more arrives, the oldest waiting one is dropped.
  public static func stream(framesPerSecond: Double = 30, duration: Double = 20, queue: Int = 1) -> Workload {
    var workload = Workload(.stream)
    workload.value.framesPerSecond = framesPerSecond
    workload.value.duration = duration
    workload.value.queue = queue
    return workload
  }

  /// A folder of photos: as many inferences as will go.
  ///
  /// - Parameter duration: seconds for each configuration.
  public static func throughput(duration: Double = 20) -> Workload {
    var workload = Workload(.throughput)
    workload.value.duration = duration
    return workload
  }

  /// A decoder: the time to the first token, then tokens a second as the text grows.
  ///
  /// - Parameters:
  ///   - prompt: tokens of the prompt.
  ///   - count: tokens that are made behind it.
  ///   - duration: seconds of one sequence after another for each configuration.
  public static func tokens(_ count: Int = 128, prompt: Int = 32, duration: Double = 20) -> Workload {
    var workload = Workload(.tokens)
    workload.value.prompt = prompt
    workload.value.tokens = count
    workload.value.duration = duration
    return workload
  }

  /// Its name.
  public var name: String { value.name }
  /// How inferences follow one another.
  public var kind: Kind { Kind(rawValue: value.kind.rawValue) ?? .oneShot }
  /// Arrivals a second; only of a stream.
  public var framesPerSecond: Double {
    get { value.framesPerSecond }
    set { value.framesPerSecond = newValue }
  }
  /// Seconds of streaming, or of going as fast as possible, for each configuration.
  public var duration: Double {
    get { value.duration }
    set { value.duration = newValue }
  }
  /// Complete starts of each configuration with nothing cached.
  public var coldStarts: Int {
    get { value.coldStarts }
    set { value.coldStarts = newValue }
  }
  /// Complete starts of each configuration with what an earlier one has cached.
  public var starts: Int {
    get { value.starts }
    set { value.starts = newValue }
  }
  /// The fewest warm inferences of each configuration, one after the other.
  public var iterations: Int {
    get { value.iterations }
    set { value.iterations = newValue }
  }
  /// Rounds into which the warm inferences are cut, and which are compared with each other.
  public var rounds: Int {
    get { value.rounds }
    set { value.rounds = newValue }
  }
  /// The fewest seconds of warm inferences of each configuration.
  public var warmSeconds: Double {
    get { value.warmSeconds }
    set { value.warmSeconds = newValue }
  }
  /// Inferences of a throughput workload that are in flight at a time; 0 to find the number by trying.
  public var inFlight: Int {
    get { value.inFlight }
    set { value.inFlight = newValue }
  }
  /// Tokens of the prompt; only of tokens.
  public var promptCount: Int {
    get { value.prompt }
    set { value.prompt = newValue }
  }
  /// Tokens that are made behind it, the first included; only of tokens.
  public var tokenCount: Int {
    get { value.tokens }
    set { value.tokens = newValue }
  }
  /// Whether a stream's governor may lower the rate, drop frames or change to a leaner plan when it gets hot.
  public var isGoverned: Bool {
    get { value.isGoverned }
    set { value.isGoverned = newValue }
  }
  /// The part of a device, 0 ..< 1, that is to stay free for others, by the device's identifier.
  public var reservedShares: [String: Double] {
    get { value.reserve }
    set { value.reserve = newValue }
  }
  /// The part of a device, 0 ..< 1, that a synthetic load uses all the time, by the device's identifier: the user
  /// interface that also draws.
  public var otherLoad: [String: Double] {
    get { value.coload }
    set { value.coload = newValue }
  }
  /// Bytes that a synthetic load reads or writes each second beyond the caches.
  public var otherMemoryTraffic: Double {
    get { value.memoryTraffic }
    set { value.memoryTraffic = newValue }
  }
  /// Bytes that a synthetic load keeps in the caches.
  public var otherCachePressure: Int {
    get { value.cachePressure }
    set { value.cachePressure = newValue }
  }
  /// Adds what others do, as `--coload` takes it: `cpu` to `0.3`, `memory` to `4GB/s`, `cache` to `16MB`.
  ///
  /// - Returns: what was expected instead; nil where it was understood.
  package mutating func setOtherLoad(_ name: String, to text: String) -> String? {
    value.otherLoad.set(name, to: text)
  }
  /// In words: `stream: 30 frames/s for 20 s, 1 frame may wait`.
  public var description: String { value.description }

  /// - Parameter isAsked: whether its numbers were asked for, rather than read from a file.
  /// - Throws: `ModelError` with code `parameters` where a number means nothing.
  package func check(isAsked: Bool) throws(ModelError) {
    do { try value.validate(document: "'\(name)'") } catch {
      throw ModelError(.parameters, error.description, fault: isAsked ? .request : .data)
    }
  }
}
#endif
