import FoundationEssentials
import Kelvin
import KelvinPlanning

/// The request of a start in a separate process: load a model, adopt a plan, compile, predict once.
///
/// The process reads the request from a file and writes one `StartAnswer` as JSON to the pipe.
struct StartRequest: Codable {
  static let currentVersion = 3

  var version = StartRequest.currentVersion
  var model: String
  var function: String?
  var shapes: [String: [Int]]
  var plan: Plan
  /// The units in the syntax of `--units`.
  var units: String
  var isStrict: Bool
  var precision: String
  var threads: Int
  var isDeterministic: Bool
  var tuning: String
  var allowsLinks: Bool
  /// The cache folder; nil to disable the cache.
  var cacheDirectory: String?
  /// The path of a file with the bytes of all input tensors, concatenated.
  var inputs: String
}

/// Times on CLOCK_MONOTONIC, in seconds, which all processes share, and memory in bytes.
struct StartAnswer: Codable {
  var version = StartRequest.currentVersion
  /// The time of the program's first own instruction.
  var began: Double
  var devicesOpen: Double
  var loaded: Double
  var compiled: Double
  var answered: Double
  /// The peak resident memory in bytes.
  var peakResident: Int
  /// The bytes of packed weights and session memory, by device.
  var deviceBytes: [String: Int]
}
