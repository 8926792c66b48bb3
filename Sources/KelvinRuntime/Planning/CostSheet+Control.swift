package import KelvinDevices
import KelvinMeasurements
import KelvinPlanning

/// Costs of control flow in addition to its nodes.
extension CostSheet {
  /// Returns the profile key of the time to start a segment from control flow and wait for it.
  package static func controlKey(threads: Int) -> String { "control full \(threads)t" }

  /// Returns the cost of one start. It is the measured cost if known, else the larger of the estimate and the
  /// latencies of the links to the device and back.
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

  /// Adds to a branch or loop its host cost, and the cost of its signal on other devices.
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
