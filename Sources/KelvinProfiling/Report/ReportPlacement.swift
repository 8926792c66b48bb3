/// One plan: where every layer runs and why.
package struct ReportPlacement: Sendable, Hashable, Codable {
  package var units: String
  package var goal: String
  package var predicted: Double
  package var measured: Double?
  package var bestSingleDevice: String
  package var bestSingleSeconds: Double?
  /// In topological order.
  package var nodes: [ReportNode]

  package init(
    units: String, goal: String, predicted: Double, measured: Double? = nil, bestSingleDevice: String = "",
    bestSingleSeconds: Double? = nil, nodes: [ReportNode]
  ) {
    self.units = units
    self.goal = goal
    self.predicted = predicted
    self.measured = measured
    self.bestSingleDevice = bestSingleDevice
    self.bestSingleSeconds = bestSingleSeconds
    self.nodes = nodes
  }
}

package struct ReportNode: Sendable, Hashable, Codable {
  package var name: String
  package var op: String
  package var device: String
  package var reason: String
  /// Seconds the whole would lose with this node elsewhere; nil when it can run nowhere else.
  package var regret: Double?
  package var candidates: [ReportCandidate]
  package var transfers: [ReportTransfer]

  package init(
    name: String, op: String, device: String, reason: String, regret: Double? = nil,
    candidates: [ReportCandidate] = [], transfers: [ReportTransfer] = []
  ) {
    self.name = name
    self.op = op
    self.device = device
    self.reason = reason
    self.regret = regret
    self.candidates = candidates
    self.transfers = transfers
  }

  /// Seconds on the device chosen.
  package var seconds: Double? { candidates.first { $0.device == device }?.seconds }
}

/// A device that was considered: its cost, or why it cannot run the layer.
package struct ReportCandidate: Sendable, Hashable, Codable {
  package var device: String
  package var seconds: Double?
  package var isMeasured: Bool
  package var unsupported: String?

  package init(device: String, seconds: Double, isMeasured: Bool) {
    self.device = device
    self.seconds = seconds
    self.isMeasured = isMeasured
    unsupported = nil
  }

  package init(device: String, unsupported: String) {
    self.device = device
    self.unsupported = unsupported
    seconds = nil
    isMeasured = false
  }
}

package struct ReportTransfer: Sendable, Hashable, Codable {
  package var value: String
  package var from: String
  package var to: String
  package var bytes: Int
  package var seconds: Double

  package init(value: String, from: String, to: String, bytes: Int, seconds: Double) {
    self.value = value
    self.from = from
    self.to = to
    self.bytes = bytes
    self.seconds = seconds
  }
}

/// One inference, device by device.
package struct ReportTimeline: Sendable, Hashable, Codable {
  package var units: String
  package var events: [TraceEvent]

  package init(units: String, events: [TraceEvent]) {
    self.units = units
    self.events = events
  }
}

/// A long run of one configuration.
package struct ReportSeries: Sendable, Hashable, Codable {
  package struct Point: Sendable, Hashable, Codable {
    /// Seconds from the start of the run.
    package var at: Double
    package var latency: Double

    package init(at: Double, latency: Double) {
      self.at = at
      self.latency = latency
    }
  }

  package struct Heat: Sendable, Hashable, Codable {
    package var at: Double
    package var state: ThermalState
    /// 1.0 is the limit.
    package var headroom: Double

    package init(at: Double, state: ThermalState, headroom: Double) {
      self.at = at
      self.state = state
      self.headroom = headroom
    }
  }

  /// Something that a governor did.
  package struct Action: Sendable, Hashable, Codable {
    package var at: Double
    /// What, and its cause, in words.
    package var text: String

    package init(at: Double, text: String) {
      self.at = at
      self.text = text
    }
  }

  package var units: String
  package var points: [Point]
  package var heat: [Heat]
  package var heatSource: String
  package var fit: DecayFit?
  package var actions: [Action]

  package init(
    units: String, points: [Point], heat: [Heat] = [], heatSource: String = "", fit: DecayFit? = nil,
    actions: [Action] = []
  ) {
    self.actions = actions
    self.units = units
    self.points = points
    self.heat = heat
    self.heatSource = heatSource
    self.fit = fit
  }
}
