internal import KelvinBasics
package import KelvinGraph
import Synchronization

/// The verdicts of self-tests on a device's driver. Each test runs when a node first needs it, once for a driver
/// version. The device does not run nodes that a failed test covers.
package final class KernelTrust: Sendable {
  private struct State {
    /// The fault by self-test; nil for a passed test.
    var faults: [String: String?] = [:]
    /// The tests that could not run. Compilation errors are reported again when a node needs the kernel.
    var unanswered: Set<String> = []
    var hasAsked = false
  }

  /// Returns the name of the driver, its version, and the kernels.
  private let identity: @Sendable () -> String
  private let state = Mutex(State())
  private let isFaulty = Atomic(false)
  private let isBelieved: Atomic<Bool>
  /// Held while self-tests run.
  private let turn = DeviceLock(())

  /// Driver versions that the test suite runs on. They are trusted without self-tests.
  private static let believed: Set = ["llvmpipe Mesa 22.3.6 (LLVM 15.0.6)", "Portable Computing Language 3.1+debian"]

  /// - Parameters:
  ///   - driver: the name as in `DeviceInfo`.
  ///   - identity: evaluated when a verdict is looked up or stored.
  package init(driver: String, identity: @autoclosure @escaping @Sendable () -> String) {
    isBelieved = Atomic(Self.believed.contains(driver))
    self.identity = identity
  }

  /// Sets whether every kernel is trusted, whatever the driver.
  package func believe(_ isBelieved: Bool) { self.isBelieved.store(isBelieved, ordering: .relaxed) }

  /// Returns why the device does not run a node that it has kernels for, or one of its implementations; nil if no
  /// fault is known.
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

  /// The names of the self-tests that have run.
  package var examined: Set<String> { state.withLock { Set($0.faults.keys) } }

  /// The known faults.
  package var faults: [String] {
    state.withLock { $0.faults.sorted { $0.key < $1.key }.compactMap(\.value) }
  }

  /// Loads the verdicts of earlier processes.
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

  /// Runs the self-tests that a graph's nodes need and that have not run yet. Tests that cannot run now, because of
  /// missing memory or a failed device, are tried again later.
  ///
  /// - Parameters:
  ///   - precision: the requested precision, on which the kernels of a node may depend.
  ///   - device: the device of this object.
  ///   - reference: defines the correct results.
  ///   - blobs: the store of verdicts.
  package func examine(
    _ graph: Graph, _ precision: Precision = .full, on device: any KernelDevice, against reference: any Device,
    blobs: any BlobCache, watchdog: Watchdog = .standard
  ) {
    guard !isBelieved.load(ordering: .relaxed), device.health.mayFree else { return }
    recall(blobs)
    // A faulty kernel is replaced by others, which may need further tests.
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

  /// - Throws: failures that do not concern the kernels: the device has failed, or has not enough memory.
  private func make(
    _ tests: [SelfTest], on device: any KernelDevice, against reference: any Device, _ blobs: any BlobCache,
    _ watchdog: Watchdog
  ) throws(DeviceError) {
    guard !tests.isEmpty else { return }
    do throws(DeviceError) {
      var faults: [String: String] = [:]
      for (precision, tests) in Dictionary(grouping: tests, by: \.precision) {
        let found = try self.faults(of: tests, precision, on: device, against: reference, blobs, watchdog)
        faults.merge(found) { first, _ in first }
      }
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

  /// Returns the faults by self-test. Results are as exact at any precision, since all operands and sums are small.
  private func faults(
    of tests: [SelfTest], _ precision: Precision, on device: any Device, against reference: any Device,
    _ blobs: any BlobCache, _ watchdog: Watchdog
  ) throws(DeviceError) -> [String: String] {
    let (example, owners): (NodeExample, [SelfTest])
    do { (example, owners) = try SelfTest.example(of: tests, on: device) } catch {
      preconditionFailure("a self-test is not a valid graph: \(error)")
    }
    guard !owners.isEmpty else { return [:] }
    let wanted = try example.run(on: reference)
    let got = try example.run(on: device, precision, blobs: blobs, watchdog: watchdog)
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
