/// An operand of a host operation: a constant or a slot.
package enum HostOperand<Value: Hashable & Sendable>: Hashable, Sendable {
  case constant(Value)
  case slot(String)

  var slot: String? { if case .slot(let name) = self { name } else { nil } }
}
