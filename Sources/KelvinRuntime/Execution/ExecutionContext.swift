import Glibc
import KelvinDevices

/// The memory for one inference at a time, and the sessions bound to it. Compiled models use the memory in turn, so
/// that a specialization for another size needs no memory of its own.
///
/// Contents are not cleared between runs. The first request determines a buffer's size exactly. A larger request
/// later replaces the buffer, and the sessions bound before are dropped. Only the context's owner accesses it.
package final class ExecutionContext: @unchecked Sendable {
  /// The buffers by device, which may be another one of the same id once a device was opened anew: for values between
  /// segments, and for memory used within a segment.
  private var values: [ObjectIdentifier: any Buffer] = [:]
  private var scratch: [ObjectIdentifier: any Buffer] = [:]
  /// The sessions, the most recently used last.
  private var sessions: [Session] = []
  private let sessionLimit: Int

  /// The maximum number of sessions of one compiled model that use callers' memory.
  private static let callersLimit = 4
  /// Memory larger than this multiple of the required size is released.
  private static let waste = 4

  /// - Parameter sessionLimit: the number of sessions that are kept.
  package init(sessionLimit: Int = .max) { self.sessionLimit = sessionLimit }

  package var byteCount: Int {
    values.values.reduce(0) { $0 + $1.byteCount } + scratch.values.reduce(0) { $0 + $1.byteCount }
  }

  /// Whether there is a session of a compiled model that was made for this memory of the caller.
  package func has(_ model: CompiledModel, _ memory: CallerMemory) -> Bool { place(model, memory) != nil }

  private func place(_ model: CompiledModel, _ memory: CallerMemory) -> Int? {
    sessions.lastIndex { $0.model === model && $0.wasMade(for: memory) }
  }

  /// Returns the session of a compiled model, and creates it if there is none.
  ///
  /// - Parameters:
  ///   - memory: the caller's memory for inputs and outputs.
  ///   - states: the memory of the model's states; the session's own unless given.
  /// - Throws: `device`.
  package func session(
    of model: CompiledModel, _ memory: CallerMemory = CallerMemory(), states: StateMemory? = nil
  ) throws(RuntimeError) -> Session {
    if let place = place(model, memory) {
      sessions.append(sessions.remove(at: place))
      return sessions[sessions.count - 1]
    }
    let session = try Session(model, measuresNodes: false, memory, states: states, in: self)
    sessions.append(session)
    if sessions.count > sessionLimit { sessions.removeFirst() }
    let callers = sessions.indices.filter { sessions[$0].model === model && !sessions[$0].wasMade(for: CallerMemory()) }
    if callers.count > Self.callersLimit { sessions.remove(at: callers[0]) }
    return session
  }

  /// Drops sessions that must not be used again.
  package func drop(where isUnusable: (Session) -> Bool) { sessions.removeAll(where: isUnusable) }

  /// Drops sessions of compiled models that are no longer used, and memory that only they needed.
  ///
  /// - Parameter byteCount: the bytes needed next.
  package func letGo(needing byteCount: Int = 0, keeping isUsed: (CompiledModel) -> Bool) {
    let count = sessions.count
    sessions.removeAll { !isUsed($0.model) }
    guard sessions.count < count else { return }
    let needed = sessions.reduce(byteCount) { max($0, $1.model.sessionByteCount) }
    guard self.byteCount / Self.waste > needed else { return }
    (sessions, values, scratch) = ([], [:], [:])
  }

  /// Returns a buffer of at least `byteCount` bytes for values on a device.
  ///
  /// - Throws: `.outOfMemory`.
  func valueBuffer(_ byteCount: Int, on device: any Device) throws(DeviceError) -> any Buffer {
    try buffer(&values, byteCount, on: device, device.makeBuffer(byteCount:))
  }

  /// Returns a buffer of at least `byteCount` bytes for scratch memory on a device.
  ///
  /// - Throws: `.outOfMemory`.
  func scratchBuffer(_ byteCount: Int, on device: any Device) throws(DeviceError) -> any Buffer {
    try buffer(&scratch, byteCount, on: device, device.makeScratch(byteCount:))
  }

  private func buffer(
    _ buffers: inout [ObjectIdentifier: any Buffer], _ byteCount: Int, on device: any Device,
    _ make: (Int) throws(DeviceError) -> any Buffer
  ) throws(DeviceError) -> any Buffer {
    let id = ObjectIdentifier(device)
    let old = buffers[id]?.byteCount
    if let known = buffers[id], known.byteCount >= byteCount { return known }
    let made: any Buffer
    if let old {
      // Sessions bound to the smaller buffer would keep it alive.
      sessions = []
      buffers[id] = nil
      made = try Self.grown(from: old, to: byteCount, isHost: device.info.isHost, make)
    } else {
      made = try make(byteCount)
    }
    if device.info.isHost, let memory = made.hostPointer { Self.touch(memory, byteCount) }
    try PoisonedMemory.prepare(made)
    buffers[id] = made
    return made
  }

  /// Makes the system provide all pages at once, which is faster than page faults inside kernels. If the system does
  /// not support that, for example for unaligned memory, the memory is written to instead.
  private static func touch(_ memory: UnsafeMutableRawPointer, _ byteCount: Int) {
    if madvise(memory, byteCount, adviceToPopulate) != 0 { memset(memory, 0, byteCount) }
  }

  /// MADV_POPULATE_WRITE, since Linux 5.14.
  private static let adviceToPopulate: Int32 = 23

  /// Returns a buffer with some reserve, so that sizes that increase in steps do not reallocate each time. On the
  /// host, where untouched memory costs nothing, the size is a power of two; elsewhere at least an eighth more than
  /// before.
  private static func grown(
    from old: Int, to byteCount: Int, isHost: Bool, _ make: (Int) throws(DeviceError) -> any Buffer
  ) throws(DeviceError) -> any Buffer {
    let ample = isHost ? byteCount.bucket : max(byteCount, old + old / 8)
    guard ample > byteCount else { return try make(byteCount) }
    do { return try make(ample) } catch {
      guard error.code == .outOfMemory else { throw error }
      return try make(byteCount)
    }
  }
}
