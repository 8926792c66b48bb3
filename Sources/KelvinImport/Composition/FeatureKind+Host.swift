import KelvinGraph

extension FeatureKind {
  /// Whether the kind of value is not a tensor.
  package var isHostKind: Bool {
    switch self {
    case .strings, .string, .dictionary, .dictionaries, .sequence: true
    case .tensor, .tensors, .image, .int64, .double, .state: false
    }
  }
}
