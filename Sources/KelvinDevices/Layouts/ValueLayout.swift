package import KelvinGraph

/// How the elements of a value lie in memory inside a segment. At a segment's boundary every value is dense.
///
/// Layouts other than `dense` are of tensors `[N, C, …]` of at least two axes; their area is what all axes after the
/// first two span together.
package enum ValueLayout: Hashable, Sendable {
  /// Row-major, in the order of the shape.
  case dense
  /// `[N, ceil(C / size), area, size]`: neighbouring channels side by side in blocks; see `BlockedShape`.
  case blocks(of: Int)
  /// `[N, area, C]`: the channels of each position as a row.
  case rows

  /// How many elements a tensor takes, fillers of the last block counted.
  package func count(of shape: Shape) -> Int {
    switch self {
    case .dense, .rows: shape.count
    case .blocks(let size): BlockedShape(shape, lanes: size).count
    }
  }

  /// Whether a tensor has the layout at all.
  package func fits(_ shape: Shape) -> Bool { self == .dense || shape.rank >= 2 }

  /// Whether a tensor in this layout can be read as if it were in the other, as it lies.
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

/// The layouts that one kernel reads and writes. Inputs and outputs that are not listed are dense; what is said of an
/// input that is constant counts for nothing, since constants are laid out when they are packed.
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
