/// What a device makes of one kernel: the program, the numbers handed to it, and the grid. A grid with an empty side
/// has nothing to do.
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

  /// The same of another program.
  package func of(_ program: Program) -> KernelDispatch { KernelDispatch(program, parameters, grid) }
}

/// One kernel run: a call, and the memory that it reads and writes.
package struct Dispatch<Program: Hashable & Sendable>: Sendable {
  package let call: KernelDispatch<Program>
  /// In the order of the kernel's operands.
  package let reads: [Storage]
  package let write: Storage
  /// The node of the compiled graph that it works for.
  package let node: Int

  /// What it reads, then what it writes.
  package var storages: [Storage] { reads + [write] }
}
