/// One kernel as a device runs it: the program, its push constants, and the grid. A grid with an empty side has nothing
/// to do.
package struct KernelDispatch<Program: Hashable & Sendable>: Hashable, Sendable {
  package let program: Program
  package let parameters: [UInt32]
  package let grid: [Int]

  package init(_ program: Program, _ parameters: Parameters, grid: [Int]) {
    self.program = program
    self.parameters = parameters.words
    self.grid = grid
  }

  private init(_ program: Program, _ parameters: [UInt32], _ grid: [Int]) {
    (self.program, self.parameters, self.grid) = (program, parameters, grid)
  }

  /// Returns the same dispatch with another program.
  package func of(_ program: Program) -> KernelDispatch { KernelDispatch(program, parameters, grid) }
}

/// One kernel run: the dispatch, and the memory that it reads and writes.
package struct Dispatch<Program: Hashable & Sendable>: Sendable {
  package let call: KernelDispatch<Program>
  /// The operands, in the order that the kernel declares them.
  package let reads: [Storage]
  package let write: Storage
  /// The index of the node in the compiled graph that the dispatch works for.
  package let node: Int
  /// The number of leading operands that the kernel writes.
  package var furtherWrites = 0
  /// Whether it copies its operand unchanged, so that nothing is left to do if both have the same memory.
  package var isIdentity = false

  /// All operands, then the result.
  package var storages: [Storage] { reads + [write] }
  package var writes: [Storage] { reads.prefix(furtherWrites) + [write] }
}
