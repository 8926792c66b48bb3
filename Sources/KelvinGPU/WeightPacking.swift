package import KelvinDevices

/// A weight in the layout that kernels read: its key, its size, and the function that packs it.
package struct WeightPacking {
  package let key: String
  package let byteCount: Int
  /// The index of the node in the compiled graph that first reads the weight.
  let node: Int
  /// Writes all bytes of the weight.
  package let fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
}

/// The weights of a lowered segment before packing. A device builds its programs while they are packed.
package struct SegmentPacking {
  private let weights: [WeightPacking]
  private let nodeCount: Int
  private let segment: Segment
  private let device: String

  init(_ weights: [WeightPacking], nodeCount: Int, of segment: Segment, device: String) {
    self.weights = weights
    self.nodeCount = nodeCount
    self.segment = segment
    self.device = device
  }

  /// The bytes of each weight in a buffer, by key.
  var byteCounts: [String: Int] {
    Dictionary(
      weights.map { ($0.key, ($0.byteCount + bufferAlignment - 1) / bufferAlignment * bufferAlignment) }
    ) { first, _ in first }
  }

  /// Returns the weights in index order, each transferred to the device by `pack`.
  ///
  /// - Throws: `.cancelled` if the segment is no longer wanted; errors of `pack`.
  package func packed<Weight>(
    _ pack: (WeightPacking) throws(DeviceError) -> Weight
  ) throws(DeviceError) -> [Weight] {
    var packed: [Weight] = []
    // A segment without nodes may return constants.
    for node in 0..<max(nodeCount, 1) {
      try segment.begin(node: node, of: nodeCount, device: device)
      while packed.count < weights.count, weights[packed.count].node <= node {
        packed.append(try pack(weights[packed.count]))
      }
    }
    return packed
  }
}
