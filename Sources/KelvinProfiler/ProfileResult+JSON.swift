package import FoundationEssentials
import KelvinBasics
import KelvinDevices
import KelvinMeasurements
import KelvinRuntime

extension ProfileResult {
  /// The document that `kelvin profile --json` prints, in seconds and bytes. (`--save` writes `profile`, a different
  /// document.)
  package func json() throws -> Data { try [self].json() }
}

extension [ProfileResult] {
  /// The document of a function's graphs: the first one's, with the others in its `parts`. The first graph is the one
  /// with the most work.
  package func json() throws -> Data {
    var document = ProfileDocument(self[0])
    if count > 1 { document.parts = dropFirst().map { ProfileDocument($0) } }
    return try JSONText.encode(document)
  }
}

private struct ProfileDocument: Encodable {
  struct Latency: Encodable {
    var p50: Double
    var p90: Double
    var minimum: Double
    var samples: Int
  }

  struct Device: Encodable {
    var id: String
    var name: String
    var nodes: Int
    var nodesElsewhere: Int
    var latency: Latency
    var account: Account
    var compile: Double
    var compileCached: Double
    var first: Double
    var busyCompile: Double?
    var busyFirst: Double?
    var undisturbed: Int
    var power: DevicePower
    var noisyNodes: Int
    var noisy: [String]
    var estimates: EstimateBasis
    var weights: WeightReport
  }

  struct Origin: Encodable {
    var name: String
    var share: Double
  }

  struct Cost: Encodable {
    var device: String
    /// The kernel of the node, by the device's own name.
    var kernel: String?
    var seconds: Double?
    var lower: Double?
    var upper: Double?
    var samples: Int?
    var clock: String?
    var isNoisy: Bool?
    var cold: Double?
    var compile: Double?
    var joules: Double?
    var unsupported: String?
  }

  struct Node: Encodable {
    var name: String
    var op: String
    var origins: [Origin]
    var region: String?
    var trips: Double?
    var costs: [Cost]
  }

  /// The seconds of control flow beside the nodes and copies inside.
  struct ControlFlow: Encodable {
    var device: String
    var loopTrip: Double
    var branchSide: Double
    var samples: Int
    var isNoisy: Bool
  }

  struct Transfer: Encodable {
    var from: String
    var to: String
    var latency: Double
    var bytesPerSecond: Double?
    var copyLatency: Double
    var isShared: Bool
    var isNoisy: Bool
    var samples: Int
    var watts: Double?
  }

  struct Check: Encodable {
    var plan: String
    var nodes: [String: Int]
    var predicted: Double
    var measured: Double
    var lower: Double
    var upper: Double
    var error: Double
    var samples: Int
    var isUndisturbed: Bool
  }

  var machine: MachineDescription
  var kelvinVersion: String
  var model: String
  var function: String
  var part: String?
  var sampledSizes: [String: [Int]]?
  var sampledValues: [String: [Double]]?
  var precision: String
  var threads: Int
  var bound: Double
  var isPartial: Bool
  var devices: [Device]
  var nodes: [Node]
  var controlFlow: [ControlFlow]?
  var transfers: [Transfer]
  var corun: [CorunFactor]
  var checks: [Check]
  var accuracy: ModelAccuracy
  /// The seconds of handing a node to each device; included in the nodes' costs.
  var dispatch: [String: Double]
  var trial: TriedPlans?
  var remarks: [String]
  var parts: [ProfileDocument]?

  init(_ result: ProfileResult) {
    machine = result.profile.machine
    kelvinVersion = result.profile.kelvinVersion
    model = result.model
    function = result.function
    part = result.part?.name
    sampledSizes = result.part?.sampledSizes
    sampledValues = result.part?.sampledValues
    precision = result.precision
    threads = result.threads
    bound = result.bound
    isPartial = result.profile.isPartial
    corun = result.profile.corun
    accuracy = result.accuracy
    dispatch = result.dispatch
    trial = result.profile.trials.first
    checks = result.checks.map { check in
      Check(
        plan: check.label, nodes: check.nodesByDevice, predicted: check.predicted, measured: check.measured,
        lower: check.interval.lower, upper: check.interval.upper, error: check.error, samples: check.samples,
        isUndisturbed: check.isUndisturbed)
    }
    devices = result.devices.map { run in
      Device(
        id: run.device.id, name: run.device.name, nodes: run.nodes, nodesElsewhere: run.nodesElsewhere,
        latency: Latency(
          p50: run.latency.p50, p90: run.latency.p90, minimum: run.latency.minimum, samples: run.latency.count),
        account: run.account, compile: run.compile, compileCached: run.compileCached, first: run.firstRun,
        busyCompile: run.busyCompile, busyFirst: run.busyFirstRun, undisturbed: run.undisturbed, power: run.power,
        noisyNodes: run.noisyNodes, noisy: run.noisyNames, estimates: run.estimates, weights: run.weights)
    }
    let order = result.devices.map(\.device.id)
    let kernels = Dictionary(result.devices.map { ($0.device.id, $0.kernels) }) { first, _ in first }
    nodes = result.nodes.map { row in
      Node(
        name: row.name, op: row.op, origins: row.origins.map { Origin(name: $0.name, share: $0.share) },
        region: row.region.isEmpty ? nil : row.region, trips: row.region.isEmpty ? nil : row.trips,
        costs: order.compactMap { id in
          if let cost = row.costs[id] {
            return Cost(
              device: id, kernel: kernels[id]?[row.name], seconds: cost.seconds, lower: cost.interval.lower,
              upper: cost.interval.upper,
              samples: cost.samples, clock: cost.source.rawValue, isNoisy: cost.isNoisy,
              cold: cost.cold, compile: cost.compile, joules: cost.joules)
          }
          return row.unsupported[id].map { Cost(device: id, unsupported: $0) }
        })
    }
    let starts = order.compactMap { id in result.starts[id].map { (id, $0) } }
    if !starts.isEmpty {
      controlFlow = starts.map { id, cost in
        ControlFlow(
          device: id, loopTrip: cost.seconds * FlatGraph.Control.Kind.loop.startsEachTurn,
          branchSide: cost.seconds * FlatGraph.Control.Kind.branch.startsEachTurn, samples: cost.samples,
          isNoisy: cost.isNoisy)
      }
    }
    transfers = result.transfers.map { transfer in
      let isFree = transfer.cost.bytesPerSecond >= TransferFit.unlimited
      return Transfer(
        from: transfer.cost.from, to: transfer.cost.to, latency: transfer.cost.latency,
        bytesPerSecond: isFree ? nil : transfer.cost.bytesPerSecond, copyLatency: transfer.fit.latency,
        isShared: transfer.isShared, isNoisy: transfer.cost.isNoisy, samples: transfer.cost.samples,
        watts: transfer.cost.watts)
    }
    remarks = result.remarks
  }
}
