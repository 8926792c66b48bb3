/// A benchmark that an advice is based on. The sustained question is answered from the stream's measurements.
package enum AdvicePart: String, Sendable, Hashable, Codable, CaseIterable {
  case photo, stream, throughput

  func serves(_ questions: Set<AdviceRequest.Question>) -> Bool {
    switch self {
    case .photo: questions.contains(.photo)
    case .stream: !questions.isDisjoint(with: [.stream, .sustained])
    case .throughput: questions.contains(.throughput)
    }
  }

  /// The share of the budget, relative to the other parts.
  var weight: Double {
    switch self {
    case .photo: 4
    case .stream: 4
    case .throughput: 3
    }
  }
}
