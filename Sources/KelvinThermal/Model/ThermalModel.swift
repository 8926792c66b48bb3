import Glibc

/// One heat path of the normalized model.
package struct ThermalPole: Sendable, Hashable, Codable {
  /// The share of the thermal resistance, 0...1; the weights of a model sum to 1.
  package var weight: Double
  /// The time constant in seconds.
  package var tau: Double

  package init(weight: Double, tau: Double) {
    self.weight = weight
    self.tau = tau
  }
}

/// Two first-order heat paths in parallel, normalized so that the model contains no temperature.
///
/// Load p is power divided by sustainable power. Headroom h is the temperature rise divided by the rise at the limit,
/// so h = 1 is the limit and a constant p settles at h = p. Each pole obeys τ dh/dt = p − h, stepped exactly for any
/// dt: h′ = a h + (1 − a) p with a = e^(−dt/τ). The caller supplies the time.
package struct ThermalModel: Sendable, Hashable, Codable {
  package let fast: ThermalPole
  package let slow: ThermalPole
  /// The normalized rise along each path.
  package private(set) var fastRise: Double
  package private(set) var slowRise: Double

  package init(fast: ThermalPole, slow: ThermalPole, fastRise: Double = 0, slowRise: Double = 0) {
    self.fast = fast
    self.slow = slow
    self.fastRise = fastRise
    self.slowRise = slowRise
  }

  /// 1.0 is the limit, as in Android's `getThermalHeadroom`.
  package var headroom: Double { fast.weight * fastRise + slow.weight * slowRise }

  /// Advances by `seconds` at constant load. Steps that are not positive and finite change nothing, so a clock that
  /// jumps back has no effect.
  package mutating func advance(by seconds: Double, load: Double) {
    guard seconds > 0, seconds.isFinite, load.isFinite else { return }
    func step(_ rise: Double, _ tau: Double) -> Double {
      let kept = exp(-seconds / tau)
      return kept * rise + (1 - kept) * load
    }
    fastRise = step(fastRise, fast.tau)
    slowRise = step(slowRise, slow.tau)
  }

  /// Returns the headroom `seconds` from now at constant load q: q + A e^(−s/τ₁) + B e^(−s/τ₂), A = w₁(h₁ − q), B =
  /// w₂(h₂ − q).
  package func forecast(after seconds: Double, load: Double) -> Double {
    load + fast.weight * (fastRise - load) * exp(-seconds / fast.tau)
      + slow.weight * (slowRise - load) * exp(-seconds / slow.tau)
  }

  /// Returns the seconds until headroom reaches 1 at constant load; 0 if it has, infinite if it never does.
  ///
  /// For q > 1 there is exactly one crossing. For q ≤ 1 there can be one only while the fast path still warms and the
  /// slow one cools (A < 0 < B), before the peak at s* = ln(−A τ₂/(B τ₁)) / (1/τ₁ − 1/τ₂).
  package func timeToLimit(load: Double) -> Double {
    guard load.isFinite else { return .infinity }
    if headroom >= 1 { return 0 }
    if load > 1 {
      var end = max(fast.tau, slow.tau)
      while forecast(after: end, load: load) < 1 {
        end *= 2
        if end > 1e12 { return .infinity }
      }
      return crossing(before: end, load: load)
    }
    guard let peak = peak(load: load), forecast(after: peak, load: load) >= 1 else { return .infinity }
    return crossing(before: peak, load: load)
  }

  /// Returns the seconds from now to the peak of headroom at constant load, if it rises and then falls.
  package func peak(load: Double) -> Double? {
    let (quick, lasting) = fast.tau <= slow.tau ? (0, 1) : (1, 0)
    let amplitude = [fast.weight * (fastRise - load), slow.weight * (slowRise - load)]
    let tau = [fast.tau, slow.tau]
    guard tau[quick] < tau[lasting], amplitude[quick] < 0, amplitude[lasting] > 0 else { return nil }
    let seconds =
      log(-amplitude[quick] * tau[lasting] / (amplitude[lasting] * tau[quick])) / (1 / tau[quick] - 1 / tau[lasting])
    return seconds > 0 ? seconds : nil
  }

  /// Shifts both paths so that headroom equals a measured value; the distribution of the rise between them remains an
  /// estimate.
  package mutating func correct(toHeadroom measured: Double) {
    guard measured.isFinite else { return }
    let difference = measured - headroom
    fastRise += difference
    slowRise += difference
  }

  private func crossing(before end: Double, load: Double) -> Double {
    var low = 0.0
    var high = end
    for _ in 0..<200 {
      let middle = low + (high - low) / 2
      guard middle > low, middle < high else { break }
      if forecast(after: middle, load: load) >= 1 { high = middle } else { low = middle }
    }
    return high
  }
}
