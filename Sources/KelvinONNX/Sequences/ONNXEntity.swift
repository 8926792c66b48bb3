import KelvinGraph
import KelvinImport

/// The meaning of a name while a graph is emitted.
enum ONNXEntity {
  case tensor(ValueID)
  /// Tensors of any shapes. Their number is known while the graph is emitted; the graph itself has no value for the
  /// sequence.
  case sequence([ValueID])
  /// An optional value that is absent.
  case absent

  /// Returns the entity with other values.
  func map(_ change: (ValueID) -> ValueID) -> ONNXEntity {
    switch self {
    case .tensor(let id): .tensor(change(id))
    case .sequence(let ids): .sequence(ids.map(change))
    case .absent: .absent
    }
  }
}
