package import FoundationEssentials
import KelvinBasics
import KelvinDevices
import KelvinMeasurements
import KelvinRuntime

extension ProfileResult {
  /// The document that `kelvin profile --json` prints, in seconds and bytes. (`--save` writes `profile`, a different
  /// document.) A device's `latency` is of inferences without node timers, its `timedLatency` and `account` of
  /// inferences with them.
  package func json() throws -> Data { try [self].json() }
}

extension [ProfileResult] {
  /// The document of a function's graphs: the first one's, with the others in its `parts`. The first graph is the one
  /// with the most work.
  package func json() throws -> Data {
    var document = self[0].document
    document.add("parts", dropFirst().map(\.document).nonEmpty)
    return try JSONText.encode(document)
  }
}

extension ProfileResult {
  fileprivate var document: JSONObject {
    [
      "machine": profile.machine, "kelvinVersion": profile.kelvinVersion, "model": model, "function": function,
      "part": part?.name, "sampledSizes": part?.sampledSizes, "sampledValues": part?.sampledValues,
      "precision": precision, "threads": threads, "bound": bound, "isPartial": profile.isPartial,
      "devices": devices.map(\.document), "nodes": nodes.map(document),
      "controlFlow": devices.compactMap { run in
        starts[run.device.id].map { document(controlFlow: $0, on: run.device.id) }
      }.nonEmpty,
      "transfers": transfers.map(\.document), "corun": profile.corun, "checks": checks.map(\.document),
      "accuracy": accuracy, "dispatch": dispatch, "trial": profile.trials.first, "remarks": remarks,
    ]
  }

  /// The costs of a node: one entry for each device that can run it, or the reason why it cannot.
  private func document(_ row: NodeRow) -> JSONObject {
    let costs = devices.compactMap { run -> JSONObject? in
      let id = run.device.id
      guard let cost = row.costs[id] else { return row.unsupported[id].map { ["device": id, "unsupported": $0] } }
      return [
        "device": id, "kernel": run.kernels[row.name], "seconds": cost.seconds, "lower": cost.interval.lower,
        "upper": cost.interval.upper, "samples": cost.samples, "clock": cost.source.rawValue, "isNoisy": cost.isNoisy,
        "cold": cost.cold, "compile": cost.compile, "joules": cost.joules,
      ]
    }
    return [
      "name": row.name, "op": row.op,
      "origins": row.origins.map { ["name": $0.name, "share": $0.share] as JSONObject },
      "region": row.region.nonEmpty, "trips": row.region.isEmpty ? nil : row.iterations, "costs": costs,
    ]
  }

  /// The seconds of control flow beside the nodes and copies inside.
  private func document(controlFlow cost: NodeCost, on device: String) -> JSONObject {
    [
      "device": device, "loopTrip": cost.seconds * FlatGraph.Control.Kind.loop.startsEachTurn,
      "branchSide": cost.seconds * FlatGraph.Control.Kind.branch.startsEachTurn, "samples": cost.samples,
      "isNoisy": cost.isNoisy,
    ]
  }
}

extension ProfileResult.DeviceRun {
  fileprivate var document: JSONObject {
    [
      "id": device.id, "name": device.name, "nodes": nodes, "nodesElsewhere": nodesElsewhere,
      "latency": latency.document, "timedLatency": timedLatency.document, "account": account, "compile": compile,
      "compileCached": compileCached, "first": firstRun,
      "busyCompile": busyCompile, "busyFirst": busyFirstRun, "undisturbed": undisturbed, "power": power,
      "noisyNodes": noisyNodes, "noisy": noisyNames, "estimates": estimates, "weights": weights,
    ]
  }
}

extension LatencyStatistics {
  fileprivate var document: JSONObject { ["p50": p50, "p90": p90, "minimum": minimum, "samples": count] }
}

extension ProfileResult.Transfer {
  fileprivate var document: JSONObject {
    [
      "from": cost.from, "to": cost.to, "latency": cost.latency,
      "bytesPerSecond": cost.bytesPerSecond >= TransferFit.unlimited ? nil : cost.bytesPerSecond,
      "copyLatency": fit.latency, "isShared": isShared, "isNoisy": cost.isNoisy, "samples": cost.samples,
      "watts": cost.watts,
    ]
  }
}

extension PlanCheck {
  fileprivate var document: JSONObject {
    [
      "plan": label, "nodes": nodesByDevice, "predicted": predicted, "measured": measured, "lower": interval.lower,
      "upper": interval.upper, "error": error, "samples": samples, "isUndisturbed": isUndisturbed,
    ]
  }
}
