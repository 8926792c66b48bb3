/// A joint of a pose.
package struct PosePoint: Sendable, Hashable {
  package var x: Double
  package var y: Double

  package init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// Smooths the joints of one person with a One Euro filter for each coordinate.
package struct PoseSmoother<Joint: Hashable & Sendable>: Sendable {
  /// The parameters of the filters. A unit of speed is the size of the pose per second.
  package let options: OneEuroFilter.Options
  /// The longest gap in seconds after which a joint continues. After a longer one it begins anew where it returns.
  package let longestGap: Double

  private struct Filters: Sendable {
    var x: OneEuroFilter
    var y: OneEuroFilter
    var lastTime: Double
  }
  private var filters: [Joint: Filters] = [:]

  /// Creates a smoother of one person.
  ///
  /// - Parameters:
  ///   - options: The parameters of the filters.
  ///   - longestGap: The longest gap in seconds, at least 0.
  package init(_ options: OneEuroFilter.Options = OneEuroFilter.Options(), longestGap: Double = 0.5) {
    self.options = options
    self.longestGap = longestGap
  }

  /// Smooths the joints of a frame. A joint that a frame does not have is not in the answer.
  ///
  /// - Parameters:
  ///   - joints: The positions of the joints. A joint with a coordinate that is not finite is left out.
  ///   - size: The size of the pose in the unit of the positions, for example the height of its box. It should not
  ///     change between frames by more than the person does.
  ///   - time: The time of the frame in seconds.
  /// - Returns: The smoothed positions; the given ones if `size` is not positive and finite.
  package mutating func update(_ joints: [Joint: PosePoint], size: Double, at time: Double) -> [Joint: PosePoint] {
    let usable = joints.filter { $0.value.x.isFinite && $0.value.y.isFinite }
    guard size > 0, size.isFinite, time.isFinite else { return usable }
    // A joint that did not return in time, and all joints after a jump back, begin anew.
    let gap = longestGap
    filters = filters.filter { (-gap...gap).contains(time - $0.value.lastTime) }
    var smoothed: [Joint: PosePoint] = [:]
    for (joint, point) in usable {
      var filter = filters[joint] ?? Filters(x: .init(options), y: .init(options), lastTime: time)
      smoothed[joint] = PosePoint(
        x: filter.x.update(point.x, at: time, unit: size), y: filter.y.update(point.y, at: time, unit: size))
      filter.lastTime = max(filter.lastTime, time)
      filters[joint] = filter
    }
    return smoothed
  }
}
