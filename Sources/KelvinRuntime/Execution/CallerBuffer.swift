import KelvinDevices
import KelvinGraph

/// Memory of the caller that a session reads an input from or writes an output to.
package final class CallerBuffer: Buffer, @unchecked Sendable {
  package let byteCount: Int
  private let memory: UnsafeMutableRawPointer
  /// The owner, retained to keep the memory valid; nil for memory that is valid in every run that it is given to.
  private let owner: (any AnyObject & Sendable)?

  /// Nil for memory without an address.
  package init?(_ memory: UnsafeMutableRawBufferPointer, owner: (any AnyObject & Sendable)?) {
    guard let base = memory.baseAddress else { return nil }
    self.memory = base
    byteCount = memory.count
    self.owner = owner
  }

  package var hostPointer: UnsafeMutableRawPointer? { memory }

  package func write(_ source: UnsafeRawBufferPointer, at offset: Int) {
    precondition(offset >= 0 && offset + source.count <= byteCount)
    if let base = source.baseAddress { (memory + offset).copyMemory(from: base, byteCount: source.count) }
  }

  package func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) {
    precondition(offset >= 0 && offset + target.count <= byteCount)
    target.baseAddress?.copyMemory(from: memory + offset, byteCount: target.count)
  }

  /// Whether two memories have bytes in common.
  func overlaps(_ other: CallerBuffer) -> Bool {
    memory < other.memory + other.byteCount && other.memory < memory + byteCount
  }

  /// Whether the memory fits a value of this type: the exact size, and 16-byte alignment, which suffices for every
  /// element type.
  func suits(_ type: TensorType) -> Bool {
    byteCount == type.byteCount && Int(bitPattern: memory) % 16 == 0
  }
}

/// The memory of the caller for inputs and outputs of a graph, by index.
package struct CallerMemory: Sendable {
  package var inputs: [Int: CallerBuffer]
  package var outputs: [Int: CallerBuffer]

  package init(inputs: [Int: CallerBuffer] = [:], outputs: [Int: CallerBuffer] = [:]) {
    self.inputs = inputs
    self.outputs = outputs
  }

  /// Whether the same inputs and outputs are at the same addresses.
  func isPlaced(like other: CallerMemory) -> Bool {
    Self.arePlaced(inputs, like: other.inputs) && Self.arePlaced(outputs, like: other.outputs)
  }

  private static func arePlaced(_ buffers: [Int: CallerBuffer], like others: [Int: CallerBuffer]) -> Bool {
    buffers.count == others.count && buffers.allSatisfy { others[$0.key]?.hostPointer == $0.value.hostPointer }
  }
}
