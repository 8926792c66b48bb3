import KelvinBasics
import KelvinDevices
package import KelvinMeasurements
package import KelvinReport

extension [ProfileResult] {
  /// The traces of several graphs, one after the other.
  package var trace: Trace {
    var trace = Trace()
    var offset = 0.0
    for result in self {
      let next = result.trace
      trace.append(next, at: offset)
      offset += (next.events.map(\.end).max() ?? 0) * 1.1
    }
    return trace
  }
}

extension ProfileResult {
  /// The median inference on each device, for Perfetto and chrome://tracing, one after the other with gaps.
  package var trace: Trace {
    var trace = Trace()
    var offset = 0.0
    for run in devices {
      trace.marks.append(TraceMark(name: "one inference on \(run.device.id)", at: offset))
      trace.append(Trace(events: run.trace), at: offset)
      offset += (run.trace.map(\.end).max() ?? 0) * 1.1
    }
    return trace
  }

  /// Returns the page of one graph's profile; `kelvin bench --report` compares configurations.
  ///
  /// - Parameters:
  ///   - model: the model's facts for the head of the page.
  ///   - placements: plans made with the new costs, to show beside the measurements.
  package func report(model: ReportModel, placements: [ReportPlacement], generated: String) -> ReportInput {
    let fastest = devices.min { $0.latency.p50 < $1.latency.p50 }
    let verdict =
      fastest.map {
        "\($0.device.id) runs one inference in \(HumanReadable.seconds($0.latency.p50)), the least of "
          + (devices.count == 1 ? "1 device measured." : "\(devices.count) devices measured.")
      } ?? "Nothing was measured."
    var page = ReportInput(
      title: "Profile of \(self.model.split(separator: "/").last.map(String.init) ?? self.model)", verdict: verdict,
      kelvinVersion: profile.kelvinVersion, generated: generated, machine: profile.machine, model: model,
      workload: "every layer on every device", devices: devices.map { ReportDevice($0.device) })
    page.configurations = devices.map(\.configuration)
    page.placements = placements
    page.timelines = devices.map { ReportTimeline(units: $0.device.id, events: $0.trace) }
    page.accounts = devices.map { ($0.device.id, $0.account) }
    page.checks = checks
    page.notes = accuracyLines + handOverLines + remarks
    return page
  }
}

extension ProfileResult.DeviceRun {
  fileprivate var configuration: ReportConfiguration {
    var row = ReportConfiguration(units: device.id)
    row.compile = compileCached
    row.first = firstRun
    row.set(latency)
    return row
  }
}
