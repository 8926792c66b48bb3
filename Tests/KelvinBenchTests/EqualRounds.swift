import FoundationEssentials
import Glibc
import KelvinBasics
import TestSupport

/// Rounds of configurations that are equal, so that every difference between them is noise.
struct EqualRounds {
  enum Noise: Hashable, CustomStringConvertible {
    case normal
    /// Student's t with three degrees of freedom: a variance, and no more.
    case heavyTailed
    /// Residuals of configurations that were equal on a real machine, by the name of their series.
    case recorded(RecordedSeries)

    var description: String {
      switch self {
      case .normal: "normal"
      case .heavyTailed: "t, 3 degrees"
      case .recorded(let series): series.name
      }
    }
  }

  /// The cause of the noise.
  enum Origin: String {
    /// The machine's state over time: whatever runs next sees it.
    case machine
    /// Something that stays with a configuration from round to round.
    case configuration
  }

  /// Standard deviation of the logarithms. With the default, the smallest difference worth the name plays no part.
  let spread: Double
  let noise: Noise
  let origin: Origin
  /// Of neighbours in time, beside what the recorded series has of its own.
  let correlation: Double
  private var random: SeededGenerator
  private let blocks: Int

  init(_ noise: Noise, from origin: Origin, correlation: Double, spread: Double = 0.5, seed: UInt64) {
    self.spread = spread
    self.noise = noise
    self.origin = origin
    self.correlation = correlation
    random = SeededGenerator(seed: seed)
    if case .recorded(let series) = noise { blocks = series.blockLength } else { blocks = 1 }
  }

  /// - Returns: for each configuration, seconds in each round.
  mutating func next(_ configurations: Int, rounds: Int) -> [[Double]] {
    func seconds(_ noise: [Double]) -> [Double] { noise.map { 0.01 * exp($0 * spread) } }
    guard origin == .machine else { return (0..<configurations).map { _ in seconds(correlated(rounds)) } }
    var turns = seconds(correlated(configurations * rounds))[...]
    var series = [[Double]](repeating: [], count: configurations)
    for _ in 0..<rounds {
      for index in series.indices.shuffled(using: &random) { series[index].append(turns.removeFirst()) }
    }
    return series
  }

  /// xₜ = ρ xₜ₋₁ + √(1 − ρ²) eₜ, begun long before the first round.
  private mutating func correlated(_ rounds: Int) -> [Double] {
    let before = correlation > 0 ? Int((log(1e-3) / log(correlation)).rounded(.up)) : 0
    let innovations = independent(before + rounds)
    let share = (1 - correlation * correlation).squareRoot()
    var state = 0.0
    return innovations.map { innovation in
      state = correlation * state + share * innovation
      return state
    }.suffix(rounds)
  }

  private mutating func independent(_ count: Int) -> [Double] {
    switch noise {
    case .normal: return (0..<count).map { _ in normal() }
    case .heavyTailed:
      return (0..<count).map { _ in
        let squares = (0..<3).reduce(0.0) { sum, _ in
          let value = normal()
          return sum + value * value
        }
        return normal() / (squares / 3).squareRoot()
      }
    case .recorded(let series):
      // Circular blocks, as long as the series' own dependence asks for.
      var values: [Double] = []
      while values.count < count {
        let start = random.index(below: series.residuals.count)
        for offset in 0..<blocks { values.append(series.residuals[(start + offset) % series.residuals.count]) }
      }
      return Array(values.prefix(count))
    }
  }

  /// Box and Muller's.
  private mutating func normal() -> Double {
    (-2 * log(1 - random.unit())).squareRoot() * cos(2 * Double.pi * random.unit())
  }
}

/// Logarithms of the ratios of two equal configurations, round by round, as a machine measured them.
struct RecordedSeries: Hashable {
  let name: String
  /// About their mean, over their standard deviation.
  let residuals: [Double]
  /// Rounds to a block, from the series' autocorrelation.
  let blockLength: Int

  /// The series of `Tests/Recorded/equal-rounds.json`.
  static let all: [RecordedSeries] = {
    struct Entry: Decodable {
      var name: String
      var logRatios: [Double]
    }
    let file = URL(filePath: "\(SharedFiles.projectRoot)/Tests/Recorded/equal-rounds.json")
    let entries = (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode([Entry].self, from: $0) } ?? []
    return entries.map { RecordedSeries(name: $0.name, logRatios: $0.logRatios) }
  }()

  init(name: String, logRatios: [Double]) {
    self.name = name
    let count = Double(logRatios.count)
    let mean = logRatios.reduce(0, +) / count
    let deviation = (logRatios.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count).squareRoot()
    residuals = logRatios.map { ($0 - mean) / deviation }
    blockLength = Self.blockLength(residuals)
  }

  /// Of a circular bootstrap. Source: Politis and White, "Automatic block-length selection for the dependent
  /// bootstrap", 2004, with Patton's correction of 2009.
  private static func blockLength(_ series: [Double]) -> Int {
    let count = Double(series.count)
    func covariance(_ lag: Int) -> Double { zip(series, series.dropFirst(lag)).reduce(0) { $0 + $1.0 * $1.1 } / count }
    let variance = covariance(0)
    let threshold = 2 * (log10(count) / count).squareRoot()
    let run = max(5, Int(log10(count).squareRoot().rounded(.up)))
    let most = Int(count.squareRoot().rounded(.up)) + run
    // The lag from which on a run of correlations is no longer significant.
    let last =
      (0..<most).first { lag in (1...run).allSatisfy { abs(covariance(lag + $0) / variance) < threshold } } ?? most
    let width = 2 * max(1, last)
    func window(_ lag: Int) -> Double { min(1, 2 * (1 - Double(lag) / Double(width))) }
    var (slope, spectrum) = (0.0, variance)
    for lag in 1...width {
      slope += 2 * window(lag) * Double(lag) * covariance(lag)
      spectrum += 2 * window(lag) * covariance(lag)
    }
    let length = cbrt(2 * slope * slope / (4.0 / 3 * spectrum * spectrum) * count)
    return max(1, min(Int(length.rounded(.up)), Int(min(3 * count.squareRoot(), count / 3))))
  }
}
