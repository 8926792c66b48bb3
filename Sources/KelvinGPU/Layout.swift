package import KelvinGraph

/// How a value lies in memory inside a segment. Floating-point elements are float32 in both.
package enum Layout: Hashable, Sendable {
  /// Row-major.
  case dense
  /// `[N, ceil(C / lanes), area, lanes]` for a tensor of floats `[N, C, …]`; see `BlockedShape`.
  case blocked
}

/// The sizes of a tensor `[N, C, …]` in the blocked layout. What the lanes beyond C hold is up to the device.
package struct BlockedShape: Hashable, Sendable {
  package let batch: Int
  package let channels: Int
  /// The positions that all axes after the first two span together.
  package let area: Int
  /// Channels in a block.
  package let lanes: Int

  package init(_ shape: Shape, lanes: Int) {
    batch = shape.rank > 0 ? shape[0] : 1
    channels = shape.rank > 1 ? shape[1] : 1
    area = shape.pixels
    self.lanes = lanes
  }

  package var blocks: Int { (channels + lanes - 1) / lanes }
  /// Groups of as many elements as there are lanes.
  package var groups: Int { batch * blocks * area }
  package var count: Int { groups * lanes }
  /// Whether the dense layout is the same.
  package var isDense: Bool { area == 1 && channels % lanes == 0 }
  /// Whether the dense layout is the same but for lanes at the end.
  package var startsDense: Bool { area == 1 && (batch == 1 || channels % lanes == 0) }
}

extension Shape {
  /// The number of positions that all axes after the first two span together.
  package var pixels: Int { dimensions.dropFirst(2).reduce(1, *) }
}
