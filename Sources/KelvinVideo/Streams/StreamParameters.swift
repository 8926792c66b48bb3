public import FoundationEssentials
import Kelvin
import KelvinBasics
package import KelvinTracking

/// The parameters of tracking and smoothing, as a JSON file holds them.
///
/// ```json
/// { "tracking": { "secondsKept": 2 }, "classes": { "seconds": 1 }, "poses": { "cutoff": 0.5 } }
/// ```
public struct StreamParameters: Hashable, Sendable {
  package var tracking = TrackerOptions()
  package var classes = ClassSmoother.Options()
  package var poses = OneEuroFilter.Options()

  /// The largest accepted file in bytes.
  private static let largestDocument = 1 << 16

  /// Creates the default parameters.
  public init() {}

  /// The smallest confidence of an object that can continue a track.
  public var leastConfidence: Float { Float(tracking.lowScore) }

  /// Reads parameters from JSON. A missing key has its default.
  ///
  /// - Parameter json: The document.
  /// - Throws: `VideoError` (`request`) for a document that is not JSON, has an unknown key, or a value out of range.
  public init(json: Data) throws(VideoError) { try self.init(json, named: "the parameters") }

  /// Reads parameters from a JSON file. A missing key has its default.
  ///
  /// - Parameter url: The file.
  /// - Throws: `VideoError` (`request`) that names the file, and the key that is unknown or out of range.
  public init(contentsOf url: URL) throws(VideoError) {
    let data: Data
    do { data = try LocalFile.read(url.path) } catch { throw VideoError(.request, error.description) }
    try self.init(data, named: "'\(url.path)'")
  }

  private init(_ json: Data, named name: String) throws(VideoError) {
    guard json.count <= Self.largestDocument else {
      throw VideoError(
        .request, "\(name): \(json.count) bytes, expected at most \(Self.largestDocument); is this the right file?")
    }
    do {
      self = try JSONText.decode(Document.self, from: json).parameters
    } catch let error as DecodingError {
      throw VideoError(.request, "\(name): \(Document.describe(error))")
    } catch {
      throw VideoError(.request, "\(name): \(error)")
    }
    if let problem = tracking.problem { throw VideoError(.request, "\(name): tracking: \(problem)") }
  }
}

/// A decoded document of parameters.
private struct Document: Decodable {
  private enum Value {
    case number(WritableKeyPath<StreamParameters, Double>, ClosedRange<Double>)
    case count(WritableKeyPath<StreamParameters, Int>)
    case truth(WritableKeyPath<StreamParameters, Bool>)
  }

  private typealias Entry = (name: String, value: Value)

  private static let seconds = 0.0...3600
  /// The sections with their keys. `TrackerOptions.problem` checks the values of the tracker.
  private static var sections: [(name: String, entries: [Entry])] {
    [
      (
        "tracking",
        [
          ("highScore", .number(\.tracking.highScore, 0...1)), ("lowScore", .number(\.tracking.lowScore, 0...1)),
          ("newTrackScore", .number(\.tracking.newTrackScore, 0...1)),
          ("lastBoxMatch", .number(\.tracking.lastBoxMatch, 0...1)),
          ("scoreWeight", .number(\.tracking.scoreWeight, 0...1)),
          ("highMatch", .number(\.tracking.highMatch, 0...1)), ("lowMatch", .number(\.tracking.lowMatch, 0...1)),
          ("unconfirmedMatch", .number(\.tracking.unconfirmedMatch, 0...1)),
          ("secondsKept", .number(\.tracking.secondsKept, seconds)),
          ("updatesUntilConfirmed", .count(\.tracking.updatesUntilConfirmed)),
          ("labelsMustAgree", .truth(\.tracking.labelsMustAgree)), ("maximumCount", .count(\.tracking.maximumCount)),
        ]
      ),
      (
        "classes",
        [
          ("seconds", .number(\.classes.seconds, seconds)), ("lead", .number(\.classes.lead, 0...1)),
          ("secondsOfLead", .number(\.classes.secondsOfLead, seconds)),
        ]
      ),
      (
        "poses",
        [
          ("cutoff", .number(\.poses.cutoff, 0.001...1000)), ("speedWeight", .number(\.poses.speedWeight, 0...1000)),
          ("speedCutoff", .number(\.poses.speedCutoff, 0.001...1000)),
        ]
      ),
    ]
  }

  struct Refusal: Error, CustomStringConvertible { let description: String }

  var parameters = StreamParameters()

  init(from decoder: any Decoder) throws {
    let document = try decoder.container(keyedBy: JSONKey.self)
    for key in document.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
      guard let section = Self.sections.first(where: { $0.name == key.stringValue }) else {
        throw Refusal(description: Self.unknown(key.stringValue, Self.sections.map(\.name)))
      }
      let values = try document.nestedContainer(keyedBy: JSONKey.self, forKey: key)
      for key in values.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
        guard let entry = section.entries.first(where: { $0.name == key.stringValue }) else {
          throw Refusal(description: "\(section.name): " + Self.unknown(key.stringValue, section.entries.map(\.name)))
        }
        switch entry.value {
        case .number(let path, let range):
          let number = try values.decode(Double.self, forKey: key)
          guard range.contains(number) else {
            throw Refusal(
              description: "\(section.name): \(entry.name) is \(number); expected a number from "
                + "\(HumanReadable.significant(range.lowerBound)) to \(HumanReadable.significant(range.upperBound))")
          }
          parameters[keyPath: path] = number
        case .count(let path): parameters[keyPath: path] = try values.decode(Int.self, forKey: key)
        case .truth(let path): parameters[keyPath: path] = try values.decode(Bool.self, forKey: key)
        }
      }
    }
  }

  private static func unknown(_ key: String, _ known: [String]) -> String {
    "the key '\(key)' is not known; there are \(known.joined(separator: ", "))"
  }

  static func describe(_ error: DecodingError) -> String {
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      return (path.isEmpty ? "" : "\(path): ") + context.debugDescription
    @unknown default: return "\(error)"
    }
  }
}
