package import KelvinDevices

/// A weight in the form that kernels read: under what it is kept, and what makes it.
package struct WeightPacking {
  package let key: String
  package let byteCount: Int
  /// The node of the compiled graph that reads it first.
  let node: Int
  /// Writes all of the bytes.
  package let fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
}

/// The weights of a lowered segment, before they are packed: what a device makes its programs beside.
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

  /// The weights in the order of their numbers, each brought to the device by `pack`.
  ///
  /// - Throws: `.cancelled` where nobody wants them any more; what `pack` throws.
  package func packed<Weight>(
    _ pack: (WeightPacking) throws(DeviceError) -> Weight
  ) throws(DeviceError) -> [Weight] {
    var packed: [Weight] = []
    // A segment without nodes may hand out constants.
    for node in 0..<max(nodeCount, 1) {
      try segment.begin(node: node, of: nodeCount, device: device)
      while packed.count < weights.count, weights[packed.count].node <= node {
        packed.append(try pack(weights[packed.count]))
      }
    }
    return packed
  }
}
