import Glibc

/// The responses of poles to a measured power, averaged over windows of equal time.
///
/// Responses are computed from sample to sample and then averaged, like the temperatures. Averaging both alike does not
/// change a linear model.
struct TwoPoleBasis {
  struct Taus: Hashable {
    var fast: Double
    var slow: Double
  }

  /// The response of one time constant to the power, and the decay of its initial state.
  struct Pole {
    var response: [Double]
    var decay: [Double]
  }

  /// The shortest window in seconds, and the most windows.
  private static let shortestWindow = 1.0
  private static let mostWindows = 600.0

  private let times: [Double]
  private let watts: [Double]
  private let windows: [Int]
  private let counts: [Double]

  init(times: [Double], watts: [Double]) {
    let first = times.first ?? 0
    let span = (times.last ?? 0) - first
    let width = max(Self.shortestWindow, span / Self.mostWindows)
    self.times = times.map { $0 - first }
    self.watts = watts
    var windows: [Int] = []
    var counts: [Double] = []
    var current = -1
    for time in self.times {
      let window = Int(time / width)
      if window != current {
        counts.append(0)
        current = window
      }
      windows.append(counts.count - 1)
      counts[counts.count - 1] += 1
    }
    self.windows = windows
    self.counts = counts
  }

  func windowed(_ values: [Double]) -> [Double] {
    var means = [Double](repeating: 0, count: counts.count)
    for (window, value) in zip(windows, values) { means[window] += value }
    return zip(means, counts).map { $0 / $1 }
  }

  func pole(_ tau: Double) -> Pole {
    var response: [Double] = []
    var decay: [Double] = []
    response.reserveCapacity(times.count)
    decay.reserveCapacity(times.count)
    var level = watts.first ?? 0
    var last = 0.0
    for (time, watts) in zip(times, watts) {
      let kept = exp(-(time - last) / tau)
      level = kept * level + (1 - kept) * watts
      response.append(level)
      decay.append(exp(-time / tau))
      last = time
    }
    return Pole(response: windowed(response), decay: windowed(decay))
  }

  /// Returns the columns of R₁, R₂, T₀, c₁ and c₂.
  func columns(_ fast: Pole, _ slow: Pole) -> [[Double]] {
    [fast.response, slow.response, counts.map { _ in 1 }, fast.decay, slow.decay]
  }

  func columns(_ taus: Taus) -> [[Double]] { columns(pole(taus.fast), pole(taus.slow)) }

  /// Returns the derivatives by R₁, R₂, T₀, c₁, c₂, ln τ₁ and ln τ₂.
  func derivatives(_ taus: Taus, _ linear: [Double]) -> [[Double]] {
    let step = 1e-4
    func byTau(_ tau: Double, _ resistance: Double, _ stored: Double) -> [Double] {
      let (more, less) = (pole(tau * exp(step)), pole(tau * exp(-step)))
      return more.response.indices.map {
        (resistance * (more.response[$0] - less.response[$0]) + stored * (more.decay[$0] - less.decay[$0])) / (2 * step)
      }
    }
    return columns(taus) + [byTau(taus.fast, linear[0], linear[3]), byTau(taus.slow, linear[1], linear[4])]
  }
}
