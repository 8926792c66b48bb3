import KelvinDevices
import KelvinGraph

/// Memory of the caller that a session writes an output to.
package final class CallerBuffer: Buffer, @unchecked Sendable {
  package let byteCount: Int
  private let memory: UnsafeMutableRawPointer
  /// The owner, retained to keep the memory valid.
  private let owner: any AnyObject & Sendable

  /// Nil for memory without an address.
  package init?(_ memory: UnsafeMutableRawBufferPointer, owner: any AnyObject & Sendable) {
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

  /// Whether the memory fits a value of this type: the exact size, and 16-byte alignment, which suffices for every
  /// element type.
  func suits(_ type: TensorType) -> Bool {
    byteCount == type.byteCount && Int(bitPattern: memory) % 16 == 0
  }
}
