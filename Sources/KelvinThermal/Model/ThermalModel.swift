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

  /// Shifts both paths so that headroom equals a measured value, in the proportion in which a different load during the
  /// last `seconds` would have shifted them. Brief differences so belong to the fast path.
  ///
  /// - Returns: the load that was missing in the model's input; 0 for values that are not finite, or no time.
  package mutating func correct(toHeadroom measured: Double, byLoadDuring seconds: Double) -> Double {
    guard measured.isFinite, seconds > 0, seconds.isFinite else { return 0 }
    let gained = (1 - exp(-seconds / fast.tau), 1 - exp(-seconds / slow.tau))
    let missing = (measured - headroom) / (fast.weight * gained.0 + slow.weight * gained.1)
    fastRise += gained.0 * missing
    slowRise += gained.1 * missing
    return missing
  }

  /// Returns the largest constant load with which headroom is at most `limit` from `start` to `end` seconds from now.
  ///
  /// At a moment s, headroom is F + q G with load q, F = Σ wᵢ hᵢ e^(−s/τᵢ) and G = Σ wᵢ (1 − e^(−s/τᵢ)), so it bounds q
  /// by (limit − F)/G. The least bound is at `start`, at `end`, or at a peak between them.
  ///
  /// - Parameters:
  ///   - start: above 0.
  ///   - end: at least `start`; infinite for a load that can be held for ever.
  package func largestLoad(below limit: Double, from start: Double, until end: Double) -> Double {
    func bound(_ seconds: Double) -> Double {
      let kept = (exp(-seconds / fast.tau), exp(-seconds / slow.tau))
      return (limit - fast.weight * fastRise * kept.0 - slow.weight * slowRise * kept.1)
        / (fast.weight * (1 - kept.0) + slow.weight * (1 - kept.1))
    }
    var load = min(bound(start), bound(end))
    // Each round adds the bound at the peak of the load so far. The loads fall towards the answer.
    for _ in 0..<32 {
      guard let peak = peak(load: load), peak > start, peak < end else { break }
      let lower = bound(peak)
      guard lower < load - 1e-9 else { break }
      load = lower
    }
    return load
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
