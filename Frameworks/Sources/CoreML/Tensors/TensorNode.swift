import Kelvin
import Synchronization

/// A value in the expression of a tensor: an array, or the result of an operator that has not run yet.
final class TensorNode: Sendable {
  private enum State: Sendable {
    case value(MultiArray)
    case pending(TensorOperation)
    case released
  }

  let shape: [Int]
  let type: MultiArrayDataType
  /// Whether the value is a literal of the program: it takes the type of its neighbor, and models contain it.
  let isLiteral: Bool
  /// The policy in effect when the node was made, else the policy of the operands.
  let policy: MLComputePolicy?
  /// The number of tensors with this value in the caller's hands.
  fileprivate let handleCount = Atomic(0)
  private let state: Mutex<State>

  init(_ value: MultiArray, isLiteral: Bool = false) {
    (shape, type, self.isLiteral) = (value.shape, value.dataType, isLiteral)
    policy = .current
    state = Mutex(.value(value))
  }

  init(_ operation: TensorOperation, shape: [Int], type: MultiArrayDataType) {
    (self.shape, self.type, isLiteral) = (shape, type, false)
    policy = .current ?? operation.operands.lazy.compactMap(\.policy).first
    state = Mutex(.pending(operation))
  }

  /// The value; nil before the operator has run.
  var value: MultiArray? { state.withLock { if case .value(let value) = $0 { value } else { nil } } }

  /// The operator that has not run yet; nil for a value.
  var operation: TensorOperation? { state.withLock { if case .pending(let operation) = $0 { operation } else { nil } } }

  /// Whether the caller still has a tensor with this value. A run then keeps the value.
  var isHeld: Bool { handleCount.load(ordering: .relaxed) > 0 }

  /// Keeps the result of the operator, and releases the operands.
  func settle(_ value: MultiArray) { Self.release(takeOperands(leaving: .value(value))) }

  deinit { Self.release(takeOperands(leaving: .released)) }

  private func takeOperands(leaving new: State) -> [TensorNode] {
    let old = state.withLock { state in
      defer { state = new }
      return state
    }
    if case .pending(let operation) = old { return operation.operands }
    return []
  }

  /// Releases nodes and, if they had no other owner, their operands in turn. A long chain must not be released by nested
  /// calls, which would overflow the stack.
  private static func release(_ nodes: consuming [TensorNode]) {
    while var node = nodes.popLast() {
      if isKnownUniquelyReferenced(&node) { nodes += node.takeOperands(leaving: .released) }
    }
  }
}

/// The tensors of the program with one value.
final class TensorHandle: Sendable {
  let node: TensorNode

  init(_ node: TensorNode) {
    self.node = node
    node.handleCount.add(1, ordering: .relaxed)
  }

  deinit { node.handleCount.subtract(1, ordering: .relaxed) }
}

/// An operator of ONNX with its operands.
struct TensorOperation: Sendable {
  enum Input: Sendable {
    case node(TensorNode)
    /// A list of int64, such as axes.
    case integers([Int])
    /// An int64 without dimensions.
    case integer(Int)
    case omitted
  }

  enum Attribute: Sendable {
    case integer(Int)
    case integers([Int])
    case string(String)
  }

  let kind: String
  let inputs: [Input]
  let attributes: KeyValuePairs<String, Attribute>
  /// Which of the operator's outputs is the result.
  let output: Int

  var operands: [TensorNode] { inputs.compactMap { if case .node(let node) = $0 { node } else { nil } } }
}
