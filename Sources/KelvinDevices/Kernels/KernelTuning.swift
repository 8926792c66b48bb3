internal import KelvinGraph

/// Finds out by timing which of several kernels for a node is the fastest on this machine, once: the answer is kept
/// with the compiled model.
package enum KernelTuning {
  /// How often each kernel is timed, in turns.
  package static let rounds = 5
  /// Another kernel than the first is taken where it needs at most this share of the first one's time.
  package static let gain = 0.93
}

extension KernelSelection {
  /// Takes for each node the fastest among its kernel and the alternatives to it, as remembered in the segment's blobs
  /// or else as timed now. Nothing is timed where the segment has to be deterministic, nor where the answer could not
  /// be kept.
  ///
  /// - Parameters:
  ///   - device: what blobs of other devices must not be taken for: its id and driver.
  ///   - seconds: runs a kernel of a node once.
  package mutating func tune(
    for segment: Segment, on device: DeviceInfo, seconds: (Int, Kernel) throws(DeviceError) -> Double
  ) throws(DeviceError) {
    guard !segment.isDeterministic, !(segment.blobs is NoBlobCache) else { return }
    for (index, node) in graph.nodes.enumerated() where !offers[index].alternatives.isEmpty {
      let offer = offers[index]
      let names = offer.alternatives.map(\.name)
      let key =
        "tuning \(node.fingerprint(in: graph)) \(offer.key) [\(names.joined(separator: " "))] \(segment.threads)t "
        + "\(device.id) \(device.driver) \(device.version)"
      let origin = Digest(key)
      let choice: String
      if let blob = segment.blobs.blob(key), let payload = CheckedBlob.payload(of: blob, origin: origin) {
        choice = String(decoding: payload, as: UTF8.self)
      } else {
        let fastest = try fastest(of: [offer.kernel] + offer.alternatives.map(\.kernel)) {
          (kernel) throws(DeviceError) in
          try seconds(index, kernel)
        }
        choice = fastest == 0 ? "" : names[fastest - 1]
        CheckedBlob.encoded(Array(choice.utf8), origin: origin).withUnsafeBytes { segment.blobs.store(key, $0) }
      }
      // Of a name that is not there, the first kernel is the answer.
      if let taken = offer.alternatives.first(where: { $0.name == choice }) { offers[index].kernel = taken.kernel }
      offers[index].alternatives = []
    }
  }

  /// The position of the kernel with the shortest time, the first of those that hardly differ.
  private func fastest(
    of kernels: [Kernel], _ seconds: (Kernel) throws(DeviceError) -> Double
  ) throws(DeviceError) -> Int {
    var times = [Double](repeating: .infinity, count: kernels.count)
    for _ in 0..<KernelTuning.rounds {
      for (place, kernel) in kernels.enumerated() { times[place] = min(times[place], try seconds(kernel)) }
    }
    var best = 0
    for place in times.indices where times[place] < times[best] { best = place }
    return times[best] <= times[0] * KernelTuning.gain ? best : 0
  }
}
