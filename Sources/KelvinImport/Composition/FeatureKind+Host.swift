import KelvinGraph

extension FeatureKind {
  /// Whether no tensor holds it.
  package var isHostKind: Bool {
    switch self {
    case .strings, .string, .dictionary, .dictionaries, .sequence: true
    case .tensor, .tensors, .image, .int64, .double, .state: false
    }
  }
}
