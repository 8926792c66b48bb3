import KelvinBasics
import KelvinDevices
import KelvinMeasurements
import KelvinRuntime

extension ProfileResult {
  /// Returns the output of `kelvin profile` for people: the account, every layer on every device, the transfers.
  ///
  /// - Parameter limit: the most layers to show, the costliest ones; nil for all, in the model's order.
  package func lines(layers limit: Int? = nil) -> [String] {
    let threadText = threads == 1 ? "1 thread" : "\(threads) threads"
    var lines = ["\(model)\(partText): precision \(precision), \(threadText)"]
    lines += profile.machine.reportSummary.wrapped(hangingIndent: 2) + [""]
    lines +=
      latencyTable + [""] + accountTable + [""] + checkTable + [""] + startTable + [""] + weightLines + [""]
      + layerTable(limit)
    lines += noiseLines + controlLines + [""] + transferTable + corunLines + [""] + powerLines + [""] + estimateLines
    return lines + remarks.listed(under: "Notes")
  }

  private var partText: String {
    guard let part else { return "" }
    let sizes = (part.sampledSizes ?? [:]).sorted { $0.key < $1.key }.map { name, sizes in
      "\(name) \(sizes.map(String.init).joined(separator: "x"))"
    }
    let values = (part.sampledValues ?? [:]).sorted { $0.key < $1.key }.map { name, values in
      "\(name) = [\(values.map { HumanReadable.significant($0) }.joined(separator: ", "))]"
    }
    return ", graph '\(part.name)'"
      + (part.sampledSizes == nil
        ? "" : " at the sizes of a sample run (\((sizes + values).joined(separator: ", ")))")
  }

  private var latencyTable: [String] {
    TextTable(
      of: devices,
      [
        "One inference": \.device.id, "median": { seconds($0.latency.p50) }, "p90": { seconds($0.latency.p90) },
        "n": { "\($0.latency.count)" },
      ]
    ).lines()
  }

  private var accountTable: [String] {
    TextTable(
      of: devices,
      [
        "With layer timers": \.device.id, "layers": { seconds($0.account.layers) },
        "copies": { seconds($0.account.transfers) }, "waits": { seconds($0.account.waits) },
        "residual": { "\(seconds($0.account.residual)) (\(HumanReadable.percent($0.account.residualShare)))" },
        "total": { seconds($0.account.endToEnd) },
      ]
    ).lines() + ["(the parts of a run with a timer at each layer; the timers take time themselves)"]
  }

  /// The table of predicted plans, which compares each sum of layers, copies and waits with runs without timers.
  private var checkTable: [String] {
    guard !checks.isEmpty else { return [] }
    let table = TextTable(
      of: checks,
      [
        "Plan": \.label, "predicted": { seconds($0.predicted) }, "measured": { seconds($0.measured) },
        "error": { ($0.error < 0 ? "-" : "+") + HumanReadable.percent(abs($0.error)) }, "n": { "\($0.samples)" },
        "": { $0.isUndisturbed ? "" : "disturbed" },
        "": { check in
          let nodes = check.nodesByDevice.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
          return nodes.count > 1 ? nodes.joined(separator: ", ") : ""
        },
      ])
    let hasMixed = checks.contains { $0.nodesByDevice.count > 1 && $0.label == "best plan" }
    return table.lines()
      + (hasMixed || devices.count < 2
        ? [] : ["(no plan of several devices is predicted to be faster than one device)"])
      + accuracyLines.flatMap { "(\($0))".wrapped(hangingIndent: 1) }
  }

  /// The errors of predictions, in words.
  var accuracyLines: [String] {
    func told(_ accuracy: PredictionAccuracy, _ what: String) -> String {
      let bias = (accuracy.bias < 0 ? "−" : "+") + HumanReadable.percent(abs(accuracy.bias))
      return "\(what) are off by \(HumanReadable.percent(accuracy.median)) (median of \(accuracy.plans)), "
        + "at most \(HumanReadable.percent(accuracy.largest)), on average by \(bias)"
    }
    return [
      accuracy.single.map { told($0, "predictions of plans on one device") },
      accuracy.mixed.map {
        told($0, "predictions of plans that mix devices, each from costs that were told without it,")
      },
      accuracy.mixed == nil ? nil : trialLine,
    ].compactMap { $0 }
  }

  private var trialLine: String? { profile.trials.first.map { "to be run: \($0.reason)" } }

  /// The columns of starts on a busy machine are left out where they were not measured.
  private var startTable: [String] {
    TextTable(
      of: devices,
      [
        "Start": \.device.id, "compile": { seconds($0.compile) }, "cached": { seconds($0.compileCached) },
        "first run": { seconds($0.firstRun) }, "busy: compile": { seconds($0.busyCompile) },
        "first run": { seconds($0.busyFirstRun) }, "nodes": { "\($0.nodes)" }, "elsewhere": { "\($0.nodesElsewhere)" },
      ]
    ).lines()
  }

  /// The medians that are less certain than asked for.
  private var noiseLines: [String] {
    let noisy = devices.filter { $0.noisyNodes > 0 }
    let bound = HumanReadable.percent(bound, decimals: 0)
    guard !noisy.isEmpty else { return ["(every median is certain to ± \(bound))"] }
    return noisy.flatMap { run -> [String] in
      let names = run.noisyNames.prefix(6).joined(separator: ", ")
      let more = run.noisyNodes > 6 ? " and \(run.noisyNodes - 6) more" : ""
      return
        "(less certain than ± \(bound) on \(run.device.id): \(run.noisyNodes) of \(run.nodes) layers: \(names)\(more))"
        .wrapped(hangingIndent: 2)
    }
  }

  /// The gains of two devices that work simultaneously.
  private var corunLines: [String] {
    guard !profile.corun.isEmpty else { return [] }
    let table = TextTable(
      of: profile.corun,
      [
        "At the same time": { "\($0.a) beside \($0.b)" }, "gain": { HumanReadable.significant($0.factor) + " ×" },
        "": planned, "": { $0.isNoisy ? "noisy" : "" },
      ])
    return [""] + table.lines()
  }

  private func planned(_ pair: CorunFactor) -> String {
    guard profile.device(pair.a)?.resource == profile.device(pair.b)?.resource else {
      return pair.overlaps ? "they overlap" : "planned as one resource"
    }
    return pair.areIndependent ? "one silicon, cores of their own" : "one silicon, one resource"
  }

  private var powerLines: [String] {
    devices.flatMap { run in
      ("power of \(run.device.id): \(HumanReadable.significant(run.power.idleWatts)) W idle, "
        + "\(HumanReadable.significant(run.power.busyWatts)) W busy; \(run.power.source)").wrapped(hangingIndent: 2)
    }
  }

  private var estimateLines: [String] {
    devices.flatMap { "estimates for \($0.device.id): \($0.estimates.text)".wrapped(hangingIndent: 2) }
  }

  private var weightLines: [String] {
    guard var report = devices.first?.weights else { return [] }
    report.packed = devices.flatMap { run in run.weights.packed.filter { $0.device == run.device.id } }
    return "weights: \(report.text)".wrapped(hangingIndent: 2)
  }

  private func layerTable(_ limit: Int?) -> [String] {
    let ids = devices.map(\.device.id)
    let hasRegions = nodes.contains { !$0.region.isEmpty }
    var shown = nodes
    if let limit, nodes.count > limit {
      func least(_ row: NodeRow) -> Double { row.iterations * (row.costs.values.map(\.seconds).min() ?? 0) }
      let costliest = Set(nodes.sorted { least($0) > least($1) }.prefix(limit).map(\.name))
      shown =
        hasRegions
        ? nodes.filter { costliest.contains($0.name) } : nodes.sorted { least($0) > least($1) }.prefix(limit).map { $0 }
    }
    var table = TextTable(numbers: ["Layer", "op"] + ids)
    var region = ""
    for row in shown {
      if row.region != region {
        region = row.region
        if !region.isEmpty { table.add(heading: "  " + HumanReadable.region(region, times: row.iterations)) }
      }
      let fastest = row.costs.values.map(\.seconds).min()
      table.add(
        [(region.isEmpty ? "" : "    ") + Self.shortened(row.name), row.op]
          + ids.map { id in
            guard let cost = row.costs[id] else { return "—" }
            return seconds(cost.seconds) + (cost.isNoisy ? "~" : " ")
              + (cost.seconds == fastest && ids.count > 1 ? "*" : " ")
          })
    }
    var lines = table.lines()
    lines.append("(* the fastest device, ~ less certain than asked for)")
    if hasRegions { lines.append("(in loops and branches: what one time costs)") }
    if shown.count < nodes.count {
      lines.append("(the \(shown.count) costliest of \(nodes.count) layers; --verbose shows all)")
    }
    return lines
  }

  /// The costs of control flow beside its layers and copies.
  private var controlLines: [String] {
    guard !starts.isEmpty else { return [] }
    let measured = devices.compactMap { run in starts[run.device.id].map { (device: run.device, cost: $0) } }
    let table = TextTable(
      of: measured,
      [
        "Control flow": { $0.device.isHost ? "on \($0.device.id)" : "starting \($0.device.id)" },
        "loop iteration": { seconds($0.cost.seconds * FlatGraph.Control.Kind.loop.startsEachTurn) },
        "branch": { seconds($0.cost.seconds * FlatGraph.Control.Kind.branch.startsEachTurn) },
        "": { $0.cost.isNoisy ? "noisy" : "" }, "n": { "\($0.cost.samples)" },
      ])
    return [""] + table.lines() + ["(beside the layers and copies in it)"]
  }

  private var transferTable: [String] {
    guard !transfers.isEmpty else { return [] }
    let table = TextTable(
      of: transfers,
      [
        "Hand-over": { "\($0.cost.from) → \($0.cost.to)" }, "each": { seconds($0.cost.latency) },
        "per second": {
          let rate = $0.cost.bytesPerSecond
          return HumanReadable.bytes(rate >= TransferFit.unlimited ? nil : Int(min(rate, 1e15)))
        },
        "4 KiB": { seconds($0.cost.seconds(bytes: 4 << 10)) }, "1 MiB": { seconds($0.cost.seconds(bytes: 1 << 20)) },
        "copy alone": { seconds($0.isShared ? nil : $0.fit.latency + Double(1 << 20) / $0.fit.bytesPerSecond) },
        "": { ($0.isShared ? "shared memory" : "") + ($0.cost.isNoisy ? " noisy" : "") },
      ])
    return table.lines() + handOverLines.flatMap { "(\($0))".wrapped(hangingIndent: 1) }
  }

  /// The parts of hand-over costs.
  var handOverLines: [String] {
    guard !transfers.isEmpty else { return [] }
    let handed = devices.compactMap { run in
      dispatch[run.device.id].flatMap { $0 > 0 ? "\(seconds($0)) on \(run.device.id)" : nil }
    }
    let explanation =
      "a value's hand-over: the copy, woken threads, cold caches and the change of layout, as plans that alternate "
      + "between devices take them, once a direction; 'copy alone' is 1 MiB without the rest"
    let nodes = "handing out a layer: \(handed.joined(separator: ", ")), in the layers' costs above"
    return [explanation] + (handed.isEmpty ? [] : [nodes])
  }

  private static func shortened(_ name: String) -> String {
    name.count <= 32 ? name : "…" + name.suffix(31)
  }

  private func seconds(_ value: Double?) -> String { HumanReadable.seconds(value) }
}
