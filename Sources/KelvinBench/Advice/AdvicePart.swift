/// A benchmark that an advice rests on. What has to last is told from the stream's.
package enum AdvicePart: String, Sendable, Hashable, Codable, CaseIterable {
  case photo, stream, throughput

  func serves(_ questions: Set<AdviceRequest.Question>) -> Bool {
    switch self {
    case .photo: questions.contains(.photo)
    case .stream: !questions.isDisjoint(with: [.stream, .sustained])
    case .throughput: questions.contains(.throughput)
    }
  }

  /// Of the time, against the other parts.
  var weight: Double {
    switch self {
    case .photo: 4
    case .stream: 4
    case .throughput: 3
    }
  }
}
