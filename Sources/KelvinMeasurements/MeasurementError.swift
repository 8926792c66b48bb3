/// An error of measurements or of the documents that contain them.
package enum MeasurementError: Error, Hashable, Sendable {
  case tooFewSamples(needed: Int, got: Int)
  case invalidSample(index: Int, value: Double)
  case seriesOfDifferentLength(candidate: Int, baseline: Int)
  case documentTooLarge(document: String, bytes: Int, limit: Int)
  case malformed(document: String, at: String, reason: String)
  case foreignFormat(document: String, expected: String, got: String)
  case unsupportedVersion(document: String, supported: Int, got: Int)
  case invalidValue(document: String, at: String, expected: String, got: String)
  case differentMachine(ours: String, theirs: String)
  case unreadable(document: String, reason: String)
  case unknownEnvelope(String, known: [String])
}

extension MeasurementError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tooFewSamples(let needed, let got):
      "too few samples: needed at least \(needed), got \(got); measure for longer"
    case .invalidSample(let index, let value):
      "sample \(index) is \(value): expected a finite number of seconds, zero or more"
    case .seriesOfDifferentLength(let candidate, let baseline):
      "a paired comparison needs one sample of each for every pair: candidate has \(candidate), baseline \(baseline)"
    case .documentTooLarge(let document, let bytes, let limit):
      "\(document): \(bytes) bytes, expected at most \(limit); is this the right file?"
    case .malformed(let document, let place, let reason):
      "\(document): cannot be read at \(place): \(reason)"
    case .foreignFormat(let document, let expected, let got):
      "\(document): expected \"format\": \"\(expected)\", got \"\(got)\""
    case .unsupportedVersion(let document, let supported, let got):
      "\(document): version \(got), this build reads up to \(supported); measure again or update Kelvin"
    case .invalidValue(let document, let place, let expected, let got):
      "\(document): \(place): expected \(expected), got \(got)"
    case .differentMachine(let ours, let theirs):
      "profiles of different machines do not merge: \(ours) against \(theirs); keep one file for each machine"
    case .unreadable(let document, let reason):
      "\(document): cannot be read: \(reason)"
    case .unknownEnvelope(let name, let known):
      "there is no thermal envelope '\(name)': there are \(known.joined(separator: ", ")); a file's name ends in .json"
    }
  }
}
