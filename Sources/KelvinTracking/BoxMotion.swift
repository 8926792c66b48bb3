/// The position and velocity of a box, estimated by a Kalman filter with real time steps.
///
/// The state is the center, the width, the height and their velocities per second. Noise is independent between the
/// four, so the filter is four filters of two values each. The process noise is a random walk of the position with
/// density p and one of the velocity with density q (Bar-Shalom, Li and Kirubarajan, "Estimation with applications to
/// tracking and navigation", 2001, 6.2.2). Over the time t its covariance is
///
///     | p·t + q·t³/3   q·t²/2 |
///     | q·t²/2         q·t    |
///
/// so that two steps of t/2 add the same noise as one step of t. All deviations are proportional to the size of the
/// box. The deviations of a measurement and of the velocity are ByteTrack's, at 30 frames per second. The deviation of
/// the position is half of ByteTrack's. A measurement with a low score counts less, as in GIAOTracker (Du et al., ICCV workshops 2021).
struct BoxMotion: Sendable {
  private var centerX: AxisFilter
  private var centerY: AxisFilter
  private var width: AxisFilter
  private var height: AxisFilter

  /// Deviations for a box of size 1, where rates are per second.
  private enum Noise {
    /// With a score of 1. It is twice as much with a score of 0.
    static let measured = 1.0 / 20
    static let firstPosition = 1.0 / 10
    static let firstVelocity = rate / 16
    static let positionDensity = rate / (40 * 40)
    static let velocityDensity = rate * (rate / 160) * (rate / 160)
    private static let rate = 30.0
  }

  /// The longest step of a prediction in seconds. The estimate stands still for the rest.
  static let longestStep = 10.0

  /// The shortest side of an estimate, as a share of the other side.
  private static let leastShare = 1e-3

  init(_ box: TrackedBox) {
    let size = Self.size(of: box)
    func filter(_ position: Double) -> AxisFilter {
      let deviations = (Noise.firstPosition * size, Noise.firstVelocity * size)
      return AxisFilter(
        position: position, positionVariance: deviations.0 * deviations.0,
        velocityVariance: deviations.1 * deviations.1)
    }
    centerX = filter(box.x + box.width / 2)
    centerY = filter(box.y + box.height / 2)
    width = filter(box.width)
    height = filter(box.height)
  }

  private static func size(of box: TrackedBox) -> Double { (box.width + box.height) / 2 }

  /// The estimated box, with positive sides.
  func box(score: Double, label: Int) -> TrackedBox {
    let longer = max(width.position, height.position, .leastNormalMagnitude)
    let sides = (max(width.position, longer * Self.leastShare), max(height.position, longer * Self.leastShare))
    return TrackedBox(
      x: centerX.position - sides.0 / 2, y: centerY.position - sides.1 / 2, width: sides.0, height: sides.1,
      score: score, label: label)
  }

  /// Moves the estimate on by `seconds`, at least 0.
  ///
  /// - Parameters:
  ///   - seconds: The time since the previous prediction.
  ///   - isLost: Whether the previous update had no box for the track. The size then stays as it is.
  mutating func predict(_ seconds: Double, isLost: Bool) {
    let step = min(seconds, Self.longestStep)
    let size = max(width.position + height.position, .leastNormalMagnitude) / 2
    let densities = (Noise.positionDensity * size * size, Noise.velocityDensity * size * size)
    if isLost {
      width.velocity = 0
      height.velocity = 0
    }
    centerX.predict(step, positionDensity: densities.0, velocityDensity: densities.1)
    centerY.predict(step, positionDensity: densities.0, velocityDensity: densities.1)
    width.predict(step, positionDensity: densities.0, velocityDensity: densities.1)
    height.predict(step, positionDensity: densities.0, velocityDensity: densities.1)
  }

  /// Corrects the estimate by a detected box of the time of the last prediction.
  mutating func correct(by box: TrackedBox) {
    let deviation = Noise.measured * (2 - box.score) * Self.size(of: box)
    let variance = deviation * deviation
    centerX.correct(by: box.x + box.width / 2, variance: variance)
    centerY.correct(by: box.y + box.height / 2, variance: variance)
    width.correct(by: box.width, variance: variance)
    height.correct(by: box.height, variance: variance)
  }
}

/// A Kalman filter of one position and its velocity, with measurements of the position.
private struct AxisFilter: Sendable {
  var position: Double
  var velocity = 0.0
  private var positionVariance: Double
  private var covariance = 0.0
  private var velocityVariance: Double

  init(position: Double, positionVariance: Double, velocityVariance: Double) {
    self.position = position
    self.positionVariance = positionVariance
    self.velocityVariance = velocityVariance
  }

  mutating func predict(_ step: Double, positionDensity: Double, velocityDensity: Double) {
    position += velocity * step
    positionVariance +=
      step * (2 * covariance + step * velocityVariance) + step * (positionDensity + velocityDensity * step * step / 3)
    covariance += step * velocityVariance + velocityDensity * step * step / 2
    velocityVariance += velocityDensity * step
  }

  mutating func correct(by measured: Double, variance: Double) {
    let total = positionVariance + variance
    guard total > 0 else { return }
    let gains = (positionVariance / total, covariance / total)
    let surprise = measured - position
    position += gains.0 * surprise
    velocity += gains.1 * surprise
    velocityVariance -= gains.1 * covariance
    positionVariance *= 1 - gains.0
    covariance *= 1 - gains.0
  }
}
