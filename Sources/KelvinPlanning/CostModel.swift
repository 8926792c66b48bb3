/// The least time a device needs for so much work: `overhead + max(operations / rate, bytes / bandwidth)`, or the sum
/// of the two where a device does not overlap them (S. Williams, A. Waterman, D. Patterson, "Roofline", CACM 52(4),
/// 2009).
package struct Roofline: Hashable, Sendable, Codable {
  package enum Combination: String, Hashable, Sendable, Codable {
    /// Arithmetic and memory traffic overlap: the larger decides.
    case overlapped
    case serial
  }

  /// Seconds for a node that does nothing: dispatch and bookkeeping.
  package var overheadSeconds: Double
  /// Floating-point operations a second, a multiply-add counted as two; infinite where they cost nothing.
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

/// What one device does in a second: a roofline for all operators, and better ones for those that were fitted.
package struct DeviceCoefficients: Hashable, Sendable, Codable {
  package var general: Roofline
  /// By operator name.
  package var operators: [String: Roofline]

  package init(general: Roofline, operators: [String: Roofline] = [:]) {
    self.general = general
    self.operators = operators
  }

  /// Seconds, estimated.
  package func estimate(operator name: String, operations: Double, bytes: Double) -> Double {
    (operators[name] ?? general).estimate(operations: operations, bytes: bytes)
  }
}

/// Seconds to copy `n` bytes from one device to another: `latency + n / bytesPerSecond`.
package struct TransferModel: Hashable, Sendable, Codable {
  package var latency: Double
  /// `nil` where size costs nothing.
  package var bytesPerSecond: Double?

  package init(latency: Double, bytesPerSecond: Double?) {
    self.latency = latency
    self.bytesPerSecond = bytesPerSecond
  }

  package func estimate(bytes: Double) -> Double { latency + (bytesPerSecond.map { bytes / $0 } ?? 0) }
}

/// Kinds of device that have default coefficients; the raw values are those of `kelvin devices`.
package enum DeviceKind: String, Hashable, Sendable, Codable, CaseIterable {
  case cpu
  case integratedGPU = "integrated GPU"
  case discreteGPU = "discrete GPU"
  case software, accelerator, reference, null

  /// Orders of magnitude for a device nobody has measured. They are guesses, not measurements: a desktop core pair, a
  /// GPU in a laptop's processor, a mid-range card, a driver that computes on the CPU, an NPU. One profile replaces
  /// them.
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

  /// A guess, as `guess`, for compiling one node and running it for the first time: packing weights on a CPU, making a
  /// pipeline elsewhere.
  package var startGuess: Double {
    switch self {
    case .cpu: 5e-4
    case .integratedGPU, .discreteGPU, .software: 8e-3
    case .accelerator: 2e-2
    case .reference, .null: 0
    }
  }

  /// A guess, as `guess`, of watts drawn when idle and when busy, host memory apart.
  package var powerGuess: (idle: Double, busy: Double) {
    switch self {
    case .cpu, .software, .reference: (10, 65)
    case .integratedGPU: (1, 15)
    case .discreteGPU: (15, 200)
    case .accelerator: (0.5, 8)
    case .null: (0, 0)
    }
  }

  /// A guess, as `guess`, for copies between the host and a device of this kind, one submission and its wait included.
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
