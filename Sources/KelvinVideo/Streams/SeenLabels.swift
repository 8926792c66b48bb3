import KelvinVision

/// A summary of the observations in the frames of a source. Its size does not grow with the number of frames.
struct SeenLabels: Sendable, Hashable {
  /// The frames that show a label.
  struct Entry: Sendable, Hashable {
    let label: String
    var frameCount = 0
    /// The most observations in one frame.
    var most = 0
    /// The sum of the shares of the pixels, for segments.
    var shares = 0.0
  }

  /// The largest number of labels; later ones are left out.
  private static let mostLabels = 256

  /// The labels in the order in which they were seen.
  private(set) var entries: [Entry] = []
  /// The number of frames with observations, or with none but without an error.
  private(set) var frameCount = 0

  /// - Parameter tracksOnly: Whether objects and poses without a track do not count.
  mutating func add(_ observations: VideoObservations, tracksOnly: Bool) {
    frameCount += 1
    switch observations {
    case .classes(let classes): if let first = classes.first { add([first.identifier]) }
    case .objects(let objects):
      let counted = objects.filter { !tracksOnly || $0.id != nil }
      add(counted.map { $0.observation.labels.first?.identifier ?? "" })
    case .poses(let poses): add(poses.filter { !tracksOnly || $0.id != nil }.map { _ in "person" })
    case .segments(let segments):
      for part in segments.parts {
        change(part.label) { entry in
          (entry.frameCount, entry.shares) = (entry.frameCount + 1, entry.shares + part.share)
        }
      }
    }
  }

  private mutating func add(_ labels: [String]) {
    var rest = labels[...]
    while let label = rest.first {
      let count = rest.count { $0 == label }
      change(label) { entry in (entry.frameCount, entry.most) = (entry.frameCount + 1, max(entry.most, count)) }
      rest.removeAll { $0 == label }
    }
  }

  private mutating func change(_ label: String, _ body: (inout Entry) -> Void) {
    var place = entries.firstIndex { $0.label == label }
    if place == nil, entries.count < Self.mostLabels {
      entries.append(Entry(label: label))
      place = entries.count - 1
    }
    if let place { body(&entries[place]) }
  }
}
