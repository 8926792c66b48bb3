import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

extension NodeProfiler {
  /// Returns the seconds of the copies of one inference alone.
  private func copying(_ trace: [TraceEvent], _ measured: Measured) -> Double {
    let bare = measured.bareCopies
    return trace.filter { $0.kind == .transfer }.reduce(0) { sum, event in
      guard let from = event.details["from"], let fit = bare[.init(from: from, to: event.device)],
        let bytes = event.details["bytes"].flatMap(Double.init)
      else { return sum }
      return sum + fit.latency + bytes / fit.bytesPerSecond
    }
  }

  /// Returns the transfer costs for planning: the copy and the hand-over cost beyond it.
  private func transfers(_ measured: Measured, _ handOver: HandOverFit?) -> [ProfileResult.Transfer] {
    let host = measured.runs.first { $0.device.info.isHost }
    let cores = max(1, MachineDescription(files).logicalCores)
    let watts = host.map { $0.meter.power.dynamicWatts / Double(cores) }
    return measured.transfers.map { transfer in
      let fit = transfer.outcome.fit
      let extra =
        handOver?.extra(.init(from: transfer.from, to: transfer.to), host: context.inventory.host.info.id) ?? (0, 0)
      let secondsPerByte = 1 / fit.bytesPerSecond + extra.1
      return ProfileResult.Transfer(
        cost: TransferCost(
          from: transfer.from, to: transfer.to, latency: fit.latency + extra.0,
          bytesPerSecond: extra.1 > 0 ? min(1 / secondsPerByte, TransferFit.unlimited) : fit.bytesPerSecond,
          samples: max(1, transfer.outcome.samples, measured.runs.map(\.pairs.count).max() ?? 1),
          isNoisy: transfer.outcome.isNoisy, watts: watts, copyLatency: fit.latency,
          copyBytesPerSecond: fit.bytesPerSecond),
        fit: fit, isShared: transfer.outcome.isShared)
    }
  }

  /// Returns the profile that planning reads, from the measurements so far.
  func profile(_ measured: Measured) -> MeasuredProfile { assemble(measured).profile }

  /// Returns the profile, and the median relative error of predictions of mixed plans so far.
  func profileWithNoise(_ measured: Measured) -> (profile: MeasuredProfile, noise: Double) {
    let (profile, _, _, handOver) = assemble(measured)
    return (profile, PredictionAccuracy(handOver?.mixedErrors ?? [])?.median ?? 0)
  }

  private func assemble(
    _ measured: Measured
  ) -> (
    profile: MeasuredProfile, rows: [ProfileResult.NodeRow], transfers: [ProfileResult.Transfer],
    handOver: HandOverFit?
  ) {
    let iterations = iterations(measured)
    let flat = FlatGraph(context.graph, iterations: iterations)
    var (rows, costs, works) = nodeCosts(flat, measured.runs)
    let handOver = handOver(measured, flat, rows)
    if let dispatch = handOver?.dispatch {
      for index in rows.indices { rows[index].costs = rows[index].costs.adding(dispatch) }
      costs = costs.mapValues { $0.adding(dispatch) }
    }
    let links = transfers(measured, handOver)
    let runs = measured.runs.filter { !$0.pairs.isEmpty }
    let startup = Dictionary(
      runs.map { run in
        (
          run.device.info.id,
          StartupCost(
            load: options.loadSeconds, compile: run.compile, firstRun: run.firstRun, compileCached: run.compileCached,
            busyCompile: run.busyCompile, busyFirstRun: run.busyFirstRun)
        )
      }
    ) { first, _ in first }
    var identities: [String: DeviceIdentity] = [:]
    for run in runs {
      var identity = run.device.info.identity
      identity.power = run.meter.power
      identities[identity.id] = identity
    }
    let host = context.inventory.host.info
    identities[host.id] = identities[host.id] ?? host.identity
    var profile = MeasuredProfile(
      kelvinVersion: kelvinVersion, machine: MachineDescription(files),
      devices: identities.values.sorted { $0.id < $1.id }, nodes: costs, transfers: links.map(\.cost),
      startup: [context.key.description: startup], work: works, corun: measured.corun,
      models: [context.key.description: graph(flat, iterations, rows, on: measured.runs.map(\.device))],
      isPartial: isCancelled || measured.runs.contains { $0.failure != nil })
    if !flat.controls.isEmpty {
      let starts = startCosts(profile, measured.runs)
      if !starts.isEmpty { profile.nodes[CostSheet.controlKey(threads: request.threads)] = starts }
    }
    return (profile, rows, links, handOver)
  }

  /// Returns the graph in the form that planning reads.
  private func graph(
    _ flat: FlatGraph, _ iterations: IterationEstimate, _ rows: [ProfileResult.NodeRow], on devices: [any Device]
  ) -> ProfiledModel {
    let graph = flat.graph
    func value(_ value: PlanningProblem.Value) -> ProfiledModel.Value {
      .init(value: value.value, bytes: value.bytes, copies: value.copies)
    }
    var nodes = flat.sourceRecords(on: []).map {
      ProfiledModel.Node(name: $0.id, role: .state, key: "", inputs: $0.inputs, outputs: $0.outputs.map(value))
    }
    for (control, record) in zip(flat.controls, flat.controlRecords()) {
      nodes.append(
        ProfiledModel.Node(
          name: record.id, role: control.kind == .loop ? .loop : .branch,
          key: CostSheet.controlKey(threads: request.threads), inputs: record.inputs,
          outputs: record.outputs.map(value), region: control.region.isEmpty ? nil : control.region,
          runs: control.turns))
    }
    for (index, row) in rows.enumerated() {
      let node = graph.nodes[index]
      var record = flat.record(index)
      for device in devices where !device.info.isHost && row.unsupported[device.info.id] == nil {
        record.addWeights(of: node, in: graph, packedBy: device, request.precision)
      }
      let common = commonKey(node, in: graph)
      let keys = Dictionary(devices.map { ($0.info.id, key(node, in: graph, on: $0)) }) { first, _ in first }
        .filter { $0.value != common }
      nodes.append(
        ProfiledModel.Node(
          name: node.name, key: common, keys: keys.isEmpty ? nil : keys, inputs: record.inputs,
          outputs: record.outputs.map(value),
          weights: record.weights.isEmpty
            ? nil : record.weights.map { .init(weight: $0.weight, bytes: $0.bytes, devices: $0.devices) },
          unsupported: row.unsupported.isEmpty ? nil : row.unsupported,
          region: row.region.isEmpty ? nil : row.region, runs: row.iterations == 1 ? nil : row.iterations))
    }
    let writes = flat.hostWrites.map(flat.record).map(value)
    let reads = flat.hostReads.map { graph[$0].name }
    return ProfiledModel(
      name: context.name.split(separator: "/").last.map(String.init) ?? context.name, function: context.function,
      precision: request.precision.rawValue, threads: request.threads, graph: context.graphKey.description,
      inputs: graph.inputs.map(flat.record).map(value), outputs: graph.outputs.map { graph[$0].name },
      nodes: flat.inOrder(nodes, name: \.name),
      trips: iterations.measured.isEmpty ? nil : iterations.measured,
      thenShares: iterations.measuredShares.isEmpty ? nil : iterations.measuredShares,
      hasControl: flat.hasControl ? true : nil,
      hostWrites: writes.isEmpty ? nil : writes, hostReads: reads.isEmpty ? nil : reads)
  }

  /// Returns the iteration counts and branch shares of all timed inferences. They depend on the inputs, not on the
  /// device.
  private func iterations(_ measured: Measured) -> IterationEstimate {
    var (iterations, sides): ([String: [Int]], [String: (then: Int, otherwise: Int)]) = ([:], [:])
    for record in measured.runs.flatMap(\.pairs).map(\.record) {
      iterations.merge(record.iterations) { $0 + $1 }
      sides.merge(record.sides) { ($0.then + $1.then, $0.otherwise + $1.otherwise) }
    }
    var estimate = request.iterations
    estimate.measured = iterations.mapValues { Double($0.reduce(0, +)) / Double(max($0.count, 1)) }
    estimate.measuredShares = sides.mapValues { Double($0.then) / Double(max($0.then + $0.otherwise, 1)) }
    return estimate
  }

  func result(_ measured: Measured) -> ProfileResult {
    var (profile, rows, links, handOver) = assemble(measured)
    let costs = CostSheet(profile, shipped: .none)
    let checks = checks(measured, costs)
    let accuracy = ModelAccuracy(
      single: PredictionAccuracy(checks.filter { $0.label != "best plan" }.map(\.error)),
      mixed: PredictionAccuracy(
        (handOver?.mixedErrors ?? []) + checks.filter { $0.label == "best plan" }.map(\.error)))
    profile.accuracy[context.key.description] = accuracy
    profile.pace = [request.threads: measured.pace]
    profile.trials = trials(measured, costs).map { [$0] } ?? []
    var remarks = measured.remarks
    let deviceRuns = measured.runs.compactMap { run -> ProfileResult.DeviceRun? in
      let (indices, _) = run.counted(atLeast: options.fewestRounds)
      guard let latency = run.latency(atLeast: options.fewestRounds)?.statistics,
        let timed = try? LatencyStatistics(indices.map { run.pairs[$0].timed }),
        let (seconds, trace) = run.medianRun(in: indices)
      else { return nil }
      let id = run.device.info.id
      let noisy = rows.filter { $0.costs[id]?.isNoisy ?? false }
        .sorted { ($0.costs[id]?.seconds ?? 0) > ($1.costs[id]?.seconds ?? 0) }.map(\.name)
      return ProfileResult.DeviceRun(
        device: run.device.info, kernels: run.kernels, nodes: run.nodesHere.count, nodesElsewhere: run.nodesElsewhere,
        latency: latency, timedLatency: timed, undisturbed: run.pairs.count(where: \.isUndisturbed),
        account: Account(trace, endToEnd: seconds, copying: copying(trace, measured)),
        trace: trace.separatingWaits(), compile: run.compile, compileCached: run.compileCached,
        firstRun: run.firstRun, busyCompile: run.busyCompile, busyFirstRun: run.busyFirstRun, power: run.meter.power,
        weights: run.weights, noisyNames: noisy,
        estimates: costs.basis(of: run.device.info, threads: request.threads))
    }
    for run in measured.runs {
      let timer = run.timerSeconds(in: run.counted(atLeast: options.fewestRounds).indices)
      if timer > 0 {
        remarks.append(
          "\(run.device.info.id): timing a layer slows it by \(HumanReadable.seconds(timer)), told from runs without "
            + "timers and left out of every layer's cost; the parts of runs with timers have it")
      }
      guard let failure = run.failure else { continue }
      remarks.append(
        "\(run.device.info.id) was lost after \(counted(run.pairs.count, "round")): \(failure);"
          + " its measurements are partial")
    }
    for (loop, iterations) in (profile.models[context.key.description]?.trips ?? [:]).sorted(by: { $0.key < $1.key })
    where iterations == 0 {
      remarks.append(
        "loop '\(loop)' made no iteration with these inputs: its body was not measured, and plans assume none; "
          + "give inputs that are typical with --input")
    }
    if measured.disturbances > 0 {
      remarks.append(
        "other processes took processor time in \(counted(measured.disturbances, "interval")) of measuring; rounds in them"
          + " were left out, or all but the fastest where too few others remained")
    }
    for run in deviceRuns where run.account.residualShare > 0.05 {
      remarks.append(
        "\(run.device.id): \(HumanReadable.percent(run.account.residualShare)) of a run with timers is in "
          + "no layer, copy or wait: "
          + (run.device.isHost
            ? "handing out work and reading the clock" : "recording and handing out work to the driver"))
    }
    return ProfileResult(
      profile: profile, model: context.name, function: context.function, precision: request.precision.rawValue,
      threads: request.threads, bound: options.bound, devices: deviceRuns, nodes: rows, transfers: links,
      checks: checks, accuracy: accuracy, dispatch: handOver?.dispatch ?? [:], remarks: remarks)
  }
}

extension [String: NodeCost] {
  /// Returns the costs with each device's dispatch cost added.
  fileprivate func adding(_ dispatch: [String: Double]) -> [String: NodeCost] {
    var costs = self
    for (device, cost) in self { costs[device] = cost.adding(dispatch[device] ?? 0) }
    return costs
  }
}
