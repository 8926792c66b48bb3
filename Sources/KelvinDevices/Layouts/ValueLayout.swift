package import KelvinGraph

/// The memory layout of a value inside a segment. At a segment's boundary every value is dense.
///
/// Layouts other than `dense` apply to tensors `[N, C, …]` of at least two axes; their area is the product of all
/// axes after the first two.
package enum ValueLayout: Hashable, Sendable {
  /// Row-major, in the order of the shape.
  case dense
  /// `[N, ceil(C / size), area, size]`: blocks of neighbouring channels; see `BlockedShape`.
  case blocks(of: Int)
  /// `[N, area, C]`: the channels of each position are contiguous.
  case rows

  /// Returns the number of elements that a tensor occupies, including padding of the last block.
  package func count(of shape: Shape) -> Int {
    switch self {
    case .dense, .rows: shape.count
    case .blocks(let size): BlockedShape(shape, lanes: size).count
    }
  }

  /// Whether a tensor can have the layout.
  package func fits(_ shape: Shape) -> Bool { self == .dense || shape.rank >= 2 }

  /// Whether a tensor in this layout can be read in the other one without conversion.
  package func coincides(with other: ValueLayout, _ shape: Shape) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.dense, .rows), (.rows, .dense): return shape.pixels == 1 || shape.rank < 2 || shape[1] == 1
    case (.dense, .blocks(let size)), (.rows, .blocks(let size)): return BlockedShape(shape, lanes: size).isDense
    case (.blocks(let size), .dense), (.blocks(let size), .rows): return BlockedShape(shape, lanes: size).startsDense
    default: return false
    }
  }
}

/// The layouts that one kernel reads and writes. Inputs and outputs that are not listed are dense. Entries of
/// constant inputs are ignored, since constants are laid out when they are packed.
package struct KernelLayouts: Hashable, Sendable {
  private let inputs: [ValueLayout]
  private let outputs: [ValueLayout]

  package init(reads inputs: [ValueLayout] = [], writes outputs: [ValueLayout] = []) {
    self.inputs = inputs
    self.outputs = outputs
  }

  package static let dense = KernelLayouts()

  package func read(_ input: Int) -> ValueLayout { input < inputs.count ? inputs[input] : .dense }
  package func write(_ output: Int) -> ValueLayout { output < outputs.count ? outputs[output] : .dense }
}
