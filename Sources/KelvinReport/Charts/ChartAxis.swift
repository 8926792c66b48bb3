import Glibc

/// A linear axis from zero with round ticks.
struct ChartAxis {
  let maximum: Double
  let ticks: [Double]

  /// Creates a time axis. For long spans the ticks are whole seconds, minutes or hours.
  init(upToTime seconds: Double, about count: Int) {
    let clock: [Double] = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400]
    guard seconds > Double(count), seconds.isFinite, let step = clock.first(where: { $0 * Double(count) >= seconds })
    else {
      self.init(upTo: seconds, about: count)
      return
    }
    self.init(step: step, upTo: seconds)
  }

  /// Creates an axis of sizes, whose ticks are round numbers of KiB, MiB or GiB.
  init(upToBytes most: Double, about count: Int) {
    let unit = [0x1p30, 0x1p20, 0x1p10].first { most >= $0 } ?? 1
    let axis = ChartAxis(upTo: most / unit, about: count)
    (maximum, ticks) = (axis.maximum * unit, axis.ticks.map { $0 * unit })
  }

  private init(step: Double, upTo most: Double) {
    let steps = max(1, Int((most / step).rounded(.up)))
    maximum = step * Double(steps)
    ticks = (0...steps).map { step * Double($0) }
  }

  /// - Parameter most: The largest value to show.
  init(upTo most: Double, about count: Int = 5) {
    guard most >= 1e-12, most.isFinite else {
      self.init(step: 1, upTo: 1)
      return
    }
    let rough = most / Double(max(count, 1))
    var unit = 1.0
    while unit > rough { unit /= 10 }
    while unit * 10 <= rough { unit *= 10 }
    let round = [1.0001, 2, 5].first { rough <= unit * $0 } ?? 10
    self.init(step: unit * round.rounded(), upTo: most)
  }

  /// Returns the position of a value on the axis, 0…1.
  func share(_ value: Double) -> Double { position(value, from: 0, length: 1) }

  func position(_ value: Double, from start: Double, length: Double) -> Double {
    start + length * min(max(value / maximum, 0), 1)
  }
}

/// A logarithmic axis over whole powers of ten.
struct LogarithmicAxis {
  /// The exponents of ten of the lowest and the highest tick.
  let decades: ClosedRange<Int>

  /// - Parameter values: The values to show. Only positive, finite values count, and the axis spans at most nine
  ///   decades.
  init(_ values: [Double]) {
    let usable = values.filter { $0 > 0 && $0.isFinite }
    guard let least = usable.min(), let most = usable.max() else {
      decades = -3...(-2)
      return
    }
    let top = Int(log10(most).rounded(.up))
    let bottom = min(max(Int(log10(least).rounded(.down)), top - 9), top - 1)
    decades = bottom...top
  }

  /// Returns the position of a value on the axis, 0…1, from the lowest decade upwards.
  func share(_ value: Double) -> Double {
    guard value > 0, value.isFinite else { return 0 }
    return min(max((log10(value) - Double(decades.lowerBound)) / Double(decades.count - 1), 0), 1)
  }

  var ticks: [Double] { decades.map { pow(10, Double($0)) } }
}
