import KelvinGraph
import KelvinImport

/// What a name stands for while a graph is written.
enum ONNXEntity {
  case tensor(ValueID)
  /// Tensors of any shapes. How many there are is known while the graph is written; it has none itself.
  case sequence([ValueID])
  /// An optional value that is left out.
  case absent

  /// The same with other values.
  func map(_ change: (ValueID) -> ValueID) -> ONNXEntity {
    switch self {
    case .tensor(let id): .tensor(change(id))
    case .sequence(let ids): .sequence(ids.map(change))
    case .absent: .absent
    }
  }
}
