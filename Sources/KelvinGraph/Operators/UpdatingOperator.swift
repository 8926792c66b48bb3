/// An operator whose first outputs are copies of its first inputs in which some elements are replaced.
///
/// An output of these may have the memory of its input: kernels read the input only in order to copy it.
package protocol UpdatingOperator: Operator {
  /// The number of these inputs.
  var updatedCount: Int { get }
  /// The number of elements that are replaced, if estimates take these outputs to have the memory of their inputs.
  var replacedCount: Int? { get }
}

extension UpdatingOperator {
  package var replacedCount: Int? { nil }
}

extension ScatterElements: UpdatingOperator {
  package var updatedCount: Int { 1 }
}

extension ScatterND: UpdatingOperator {
  package var updatedCount: Int { 1 }
}
