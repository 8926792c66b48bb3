import Synchronization

/// A request to end the work of one session at its next check point: between nodes on the host, between submissions
/// elsewhere.
package final class StopSignal: @unchecked Sendable {
  private let word: UnsafeMutablePointer<Atomic<UInt32>>

  package init() {
    word = .allocate(capacity: 1)
    word.initialize(to: Atomic(0))
  }

  deinit {
    word.deinitialize(count: 1)
    word.deallocate()
  }

  package var isSet: Bool { word.pointee.load(ordering: .relaxed) != 0 }
  package func set() { word.pointee.store(1, ordering: .relaxed) }
  package func clear() { word.pointee.store(0, ordering: .relaxed) }

  /// The address of a word that is nonzero while the signal is set, valid as long as the signal lives.
  package var address: UnsafePointer<UInt32> { UnsafeRawPointer(word).assumingMemoryBound(to: UInt32.self) }

  /// - Throws: `.cancelled` if the signal is set.
  package func check(device: String) throws(DeviceError) {
    if isSet { throw .cancelled(device: device) }
  }
}

extension DeviceError {
  /// Returns the error of an inference that was asked to stop.
  package static func cancelled(device: String) -> DeviceError {
    DeviceError(.cancelled, device: device, place: "inference", reason: "cancelled")
  }
}
