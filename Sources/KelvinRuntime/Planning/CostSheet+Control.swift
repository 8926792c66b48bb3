package import KelvinDevices
import KelvinMeasurements
import KelvinPlanning

/// What control flow costs beside the nodes in it.
extension CostSheet {
  /// The key under which a profile has what it costs a device that control flow starts a segment there and waits for it.
  package static func controlKey(threads: Int) -> String { "control full \(threads)t" }

  /// What one start costs: measured, else as much as entering and leaving the device by its links, and on the host as
  /// much as a node that does nothing.
  package func startCost(on device: DeviceInfo, host: DeviceInfo, threads: Int) -> Cost {
    let key = Self.controlKey(threads: threads)
    var cost = cost(key: key, on: device, threads: threads, work: NodeWork(op: "control", operations: 0, bytes: 0))
    cost.startSeconds = 0
    if cost.source != .measured, !device.isHost {
      let links = [(host, device), (device, host)].map { transfer(from: $0, to: $1, threads: threads).latency }
      cost.seconds = max(cost.seconds, links.reduce(0, +))
    }
    return cost
  }

  /// Completes a branch or loop: what the host takes for it, and what its signal costs elsewhere.
  func price(_ record: inout PlanningProblem.Node, devices: [DeviceInfo], host: DeviceInfo, threads: Int) {
    guard let starts = record.outputs.first?.copies else { return }
    record.set(startCost(on: host, host: host, threads: threads), on: host.id, times: starts)
    for device in devices where device.id != host.id {
      record.unsupported[device.id] = "control flow runs on the host"
      record.outputs[0].signalSeconds[device.id] = startCost(on: device, host: host, threads: threads).seconds
    }
    record.outputs[0].signalSeconds[host.id] = 0
  }
}
