#if Measuring
import FoundationEssentials
import KelvinPlanning

/// What a fresh process is asked to do: load a model, adopt a plan, compile, answer once.
///
/// It lies in a file that the process reads; the answer is one `StartAnswer` as JSON on the pipe.
struct StartRequest: Codable {
  static let currentVersion = 3

  var version = StartRequest.currentVersion
  var model: String
  var function: String?
  var shapes: [String: [Int]]
  var plan: Plan
  /// As `--units` spells them.
  var units: String
  var isStrict: Bool
  var precision: String
  var threads: Int
  var isDeterministic: Bool
  var tuning: String
  var allowsLinks: Bool
  /// Nil to keep nothing.
  var cacheDirectory: String?
  /// A file of the input tensors' bytes, one after the other.
  var inputs: String
}

/// Moments on CLOCK_MONOTONIC, in seconds, which all processes share, and bytes of memory.
struct StartAnswer: Codable {
  var version = StartRequest.currentVersion
  /// The program's first own instruction.
  var began: Double
  var devicesOpen: Double
  var loaded: Double
  var compiled: Double
  var answered: Double
  /// The most bytes that the process had resident.
  var peakResident: Int
  /// By device: packed weights, and the session's memory.
  var deviceBytes: [String: Int]
}
#endif
