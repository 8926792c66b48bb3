package import KelvinGraph

/// The sizes of a tensor `[N, C, …]` in blocks of channels. What the lanes beyond C hold is up to the device.
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
