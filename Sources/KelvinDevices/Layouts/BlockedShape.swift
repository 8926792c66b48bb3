package import KelvinGraph

/// The sizes of a tensor `[N, C, …]` in blocks of channels. The contents of lanes beyond C are unspecified.
package struct BlockedShape: Hashable, Sendable {
  package let batch: Int
  package let channels: Int
  /// The number of spatial positions: the product of all axes after the first two.
  package let area: Int
  /// The channels in a block.
  package let lanes: Int

  package init(_ shape: Shape, lanes: Int) {
    batch = shape.rank > 0 ? shape[0] : 1
    channels = shape.rank > 1 ? shape[1] : 1
    area = shape.pixels
    self.lanes = lanes
  }

  package var blocks: Int { (channels + lanes - 1) / lanes }
  /// The number of groups of `lanes` elements.
  package var groups: Int { batch * blocks * area }
  package var count: Int { groups * lanes }
  /// Whether the blocked layout equals the dense layout.
  package var isDense: Bool { area == 1 && channels % lanes == 0 }
  /// Whether the blocked layout equals the dense layout except for lanes at the end.
  package var startsDense: Bool { area == 1 && (batch == 1 || channels % lanes == 0) }
}

extension Shape {
  /// The number of spatial positions: the product of all axes after the first two.
  package var pixels: Int { dimensions.dropFirst(2).reduce(1, *) }
}
