/// The roofline model of a device's time: `overhead + max(operations / rate, bytes / bandwidth)`, or the sum of the two
/// terms for a device that does not overlap them (S. Williams, A. Waterman, D. Patterson, "Roofline", CACM 52(4),
/// 2009).
package struct Roofline: Hashable, Sendable, Codable {
  package enum Combination: String, Hashable, Sendable, Codable {
    /// Arithmetic and memory traffic overlap: the larger term decides.
    case overlapped
    case serial
  }

  /// Seconds of dispatch and bookkeeping for each node.
  package var overheadSeconds: Double
  /// Floating-point operations per second, a multiply-add counted as two; infinite when operations cost nothing.
  package var operationsPerSecond: Double
  package var bytesPerSecond: Double
  package var combination: Combination

  package init(
    overheadSeconds: Double, operationsPerSecond: Double, bytesPerSecond: Double, combination: Combination = .overlapped
  ) {
    self.overheadSeconds = overheadSeconds
    self.operationsPerSecond = operationsPerSecond
    self.bytesPerSecond = bytesPerSecond
    self.combination = combination
  }

  package func estimate(operations: Double, bytes: Double) -> Double {
    let arithmetic = operations / operationsPerSecond
    let traffic = bytes / bytesPerSecond
    return overheadSeconds + (combination == .overlapped ? max(arithmetic, traffic) : arithmetic + traffic)
  }
}

/// The speed of one device: a roofline for all operators, and more accurate ones for fitted operators.
package struct DeviceCoefficients: Hashable, Sendable, Codable {
  package var general: Roofline
  /// Rooflines by operator name.
  package var operators: [String: Roofline]

  package init(general: Roofline, operators: [String: Roofline] = [:]) {
    self.general = general
    self.operators = operators
  }

  /// Returns the estimated seconds.
  package func estimate(operator name: String, operations: Double, bytes: Double) -> Double {
    (operators[name] ?? general).estimate(operations: operations, bytes: bytes)
  }
}

/// The seconds to copy `n` bytes from one device to another: `latency + n / bytesPerSecond`.
package struct TransferModel: Hashable, Sendable, Codable {
  package var latency: Double
  /// `nil` when size costs nothing.
  package var bytesPerSecond: Double?

  package func estimate(bytes: Double) -> Double { latency + (bytesPerSecond.map { bytes / $0 } ?? 0) }
}

/// Kinds of device with default coefficients; the raw values are those of `kelvin devices`.
package enum DeviceKind: String, Hashable, Sendable, Codable, CaseIterable {
  case cpu
  case integratedGPU = "integrated GPU"
  case discreteGPU = "discrete GPU"
  case software, accelerator, reference, null

  /// Default coefficients, accurate to an order of magnitude: a pair of desktop cores, a laptop's integrated GPU, a
  /// mid-range card, a driver that computes on the CPU, an NPU. A profile replaces them.
  package var guess: DeviceCoefficients {
    let (overhead, operations, bytes): (Double, Double, Double) =
      switch self {
      case .cpu: (2e-6, 6e10, 1.2e10)
      case .integratedGPU: (1e-5, 4e11, 3e10)
      case .discreteGPU: (8e-6, 5e12, 4e11)
      case .software: (3e-5, 1.5e10, 6e9)
      case .accelerator: (4e-5, 2e12, 5e10)
      case .reference: (2e-6, 1.6e9, 2e9)
      case .null: (0, 1e15, 1e15)
      }
    return DeviceCoefficients(
      general: Roofline(overheadSeconds: overhead, operationsPerSecond: operations, bytesPerSecond: bytes))
  }

  /// The default seconds to compile one node and run it for the first time: packing weights on a CPU, creating a
  /// pipeline elsewhere. An order of magnitude, as `guess`.
  package var startGuess: Double {
    switch self {
    case .cpu: 5e-4
    case .integratedGPU, .discreteGPU, .software: 8e-3
    case .accelerator: 2e-2
    case .reference, .null: 0
    }
  }

  /// The default watts when idle and when busy, without host memory. An order of magnitude, as `guess`.
  package var powerGuess: (idle: Double, busy: Double) {
    switch self {
    case .cpu, .software, .reference: (10, 65)
    case .integratedGPU: (1, 15)
    case .discreteGPU: (15, 200)
    case .accelerator: (0.5, 8)
    case .null: (0, 0)
    }
  }

  /// The default cost of copies between the host and a device of this kind, including one submission and its wait. An
  /// order of magnitude, as `guess`.
  package var transferGuess: TransferModel {
    switch self {
    case .cpu, .reference, .null: TransferModel(latency: 1e-6, bytesPerSecond: 1e10)
    case .integratedGPU: TransferModel(latency: 2e-5, bytesPerSecond: 1.2e10)
    case .discreteGPU: TransferModel(latency: 2.5e-5, bytesPerSecond: 1e10)
    case .software: TransferModel(latency: 2e-5, bytesPerSecond: 6e9)
    case .accelerator: TransferModel(latency: 6e-5, bytesPerSecond: 4e9)
    }
  }
}
