internal import KelvinBasics
package import KelvinGraph
import Synchronization

/// Whether a device's driver computes what its kernels say, found out by self-tests: each is made where a node first needs
/// it, once for a driver and its version. What a failed one covers, the device does not run.
package final class KernelTrust: Sendable {
  private struct State {
    /// By self-test; nil for one that went well.
    var faults: [String: String?] = [:]
    /// Those that could not be made: what a device does not compile is found again where a node needs it.
    var unanswered: Set<String> = []
    var hasAsked = false
  }

  /// Names the driver, its version, and the kernels.
  private let identity: @Sendable () -> String
  private let state = Mutex(State())
  private let isFaulty = Atomic(false)
  private let isBelieved: Atomic<Bool>
  /// Whose turn it is to test.
  private let turn = DeviceLock(())

  /// Drivers, with their versions, on which all of Kelvin's tests are run before a change: that is more than a self-test
  /// would tell.
  private static let believed: Set = ["llvmpipe Mesa 22.3.6 (LLVM 15.0.6)", "Portable Computing Language 3.1+debian"]

  /// - Parameters:
  ///   - driver: as `DeviceInfo` names it.
  ///   - identity: asked when a verdict is looked for or kept.
  package init(driver: String, identity: @autoclosure @escaping @Sendable () -> String) {
    isBelieved = Atomic(Self.believed.contains(driver))
    self.identity = identity
  }

  /// Whether every kernel is taken for right, whatever the driver.
  package func believe(_ isBelieved: Bool) { self.isBelieved.store(isBelieved, ordering: .relaxed) }

  /// Why the device does not run a node that it has kernels for, or not in one of its ways; nil where nothing is known
  /// against them.
  package func fault(of op: any Operator, _ operands: [TensorType], implementation: String? = nil) -> String? {
    guard isFaulty.load(ordering: .acquiring) else { return nil }
    let tests = SelfTest.all(for: op, operands).filter { $0.implementation == implementation }
    return state.withLock { state in
      for test in tests {
        if let fault = state.faults[test.name] ?? nil { return fault }
      }
      return nil
    }
  }

  /// The self-tests that have been made, by name.
  package var examined: Set<String> { state.withLock { Set($0.faults.keys) } }

  /// What failed, as far as it is known.
  package var faults: [String] {
    state.withLock { $0.faults.sorted { $0.key < $1.key }.compactMap(\.value) }
  }

  /// Takes over what earlier processes found.
  package func recall(_ blobs: any BlobCache) {
    guard !isBelieved.load(ordering: .relaxed), !state.withLock({ $0.hasAsked }) else { return }
    let key = key
    let kept = blobs.blob(key).flatMap { CheckedBlob.payload(of: $0, origin: Digest(key)) }
    let lines = kept.map { String(decoding: $0, as: UTF8.self).split(separator: "\n") } ?? []
    state.withLock { state in
      state.hasAsked = true
      for line in lines {
        let parts = line.split(separator: "\t", maxSplits: 1).map(String.init)
        guard let name = parts.first, state.faults[name] == nil else { continue }
        state.faults.updateValue(parts.count > 1 ? parts[1] : nil, forKey: name)
      }
    }
    noteFaults()
  }

  /// Makes the self-tests that a graph's nodes need and that nobody has made yet. What cannot be made for now, for want of
  /// memory or because the device is out, is asked again.
  ///
  /// - Parameters:
  ///   - precision: in which its nodes are asked for: the same nodes may have other kernels in another.
  ///   - device: the one whose trust this is.
  ///   - reference: what defines the results.
  ///   - blobs: where verdicts are kept.
  package func examine(
    _ graph: Graph, _ precision: Precision = .full, on device: any KernelDevice, against reference: any Device,
    blobs: any BlobCache, watchdog: Watchdog = .standard
  ) {
    guard !isBelieved.load(ordering: .relaxed), device.health.mayFree else { return }
    recall(blobs)
    // A kind that turns out to be wrong has others do its work.
    while let tests = missing(for: graph, precision, device.kernelFamily) {
      let before = known
      do throws(DeviceError) {
        try turn.withLock(device.health) { (_) throws(DeviceError) in
          try make(tests.filter { !known.contains($0.name) }, on: device, against: reference, blobs, watchdog)
        }
      } catch {
        return
      }
      if known != before { keep(blobs) }
    }
  }

  private var known: Set<String> { state.withLock { Set($0.faults.keys).union($0.unanswered) } }

  private func missing(for graph: Graph, _ precision: Precision, _ family: any KernelFamily) -> [SelfTest]? {
    let tests = SelfTest.all(for: graph, precision, family, but: known)
    return tests.isEmpty ? nil : tests
  }

  /// - Throws: what says nothing of the kernels: the device is out, or has no memory.
  private func make(
    _ tests: [SelfTest], on device: any KernelDevice, against reference: any Device, _ blobs: any BlobCache,
    _ watchdog: Watchdog
  ) throws(DeviceError) {
    guard !tests.isEmpty else { return }
    do throws(DeviceError) {
      let faults = try faults(of: tests, on: device, against: reference, blobs, watchdog)
      state.withLock { state in
        for test in tests { state.faults.updateValue(faults[test.name], forKey: test.name) }
      }
      noteFaults()
    } catch {
      guard !error.isOfDevice else { throw error }
      guard tests.count > 1 else {
        state.withLock { _ = $0.unanswered.insert(tests[0].name) }
        return
      }
      for test in tests { try make([test], on: device, against: reference, blobs, watchdog) }
    }
  }

  /// What is wrong, by self-test.
  private func faults(
    of tests: [SelfTest], on device: any Device, against reference: any Device, _ blobs: any BlobCache,
    _ watchdog: Watchdog
  ) throws(DeviceError) -> [String: String] {
    let (example, owners): (NodeExample, [SelfTest])
    do { (example, owners) = try SelfTest.example(of: tests, on: device) } catch {
      preconditionFailure("a self-test is no graph: \(error)")
    }
    guard !owners.isEmpty else { return [:] }
    let wanted = try example.run(on: reference)
    let got = try example.run(on: device, blobs: blobs, watchdog: watchdog)
    var faults: [String: String] = [:]
    for (index, node) in example.graph.nodes.enumerated() where faults[owners[index].name] == nil {
      let tolerance = node.op.tolerance(.full, example.graph.types(node.inputs))
      guard let difference = NodeExample.difference(of: got[index], from: wanted[index], tolerance) else { continue }
      let name = owners[index].name
      faults[name] = "self-test of \(name) failed: \(difference)"
    }
    return faults
  }

  private func noteFaults() {
    if state.withLock({ $0.faults.values.contains { $0 != nil } }) { isFaulty.store(true, ordering: .releasing) }
  }

  private var key: String { "self-tests/\(identity())" }

  private func keep(_ blobs: any BlobCache) {
    let lines = state.withLock { $0.faults.sorted { $0.key < $1.key } }.map { "\($0)\t\($1?.printable ?? "")\n" }
    let key = key
    CheckedBlob.encoded(Array(lines.joined().utf8), origin: Digest(key)).withUnsafeBytes { blobs.store(key, $0) }
  }
}
