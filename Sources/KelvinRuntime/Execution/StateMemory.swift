package import KelvinDevices
package import KelvinGraph
import Synchronization

/// The memory of a model's states for one caller: zeros at first, then the states after the latest prediction.
///
/// One prediction at a time uses it. The model's plan determines the devices that hold it. Specializations for other
/// sizes share it, and its contents are moved if their plans use another device.
package final class StateMemory: @unchecked Sendable {
  /// A state's buffers.
  struct Cell {
    var byteCount: Int
    /// The buffers by memory domain; the buffer of `current` has the contents.
    var buffers: [String: any Buffer] = [:]
    var current: String?
    /// The devices of the buffers.
    var devices: [String: any Device] = [:]

    /// The failure of the device that holds the contents.
    var failure: DeviceError? { current.flatMap { devices[$0]?.health.failure } }
  }

  /// Guards the contents: only the borrower accesses them.
  private let isBorrowed = Mutex(false)
  /// Whether a prediction whose result is invalid has changed the contents.
  private let isSpoiled = Mutex(false)
  private var cells: [String: Cell] = [:]
  /// The sessions bound to these buffers, and the memory of their other values.
  private var context = ExecutionContext(sessionLimit: StateMemory.sessionLimit)
  private static let sessionLimit = 4
  /// The failure of a prediction that used the memory, after which its contents are invalid.
  private var failure: DeviceError?
  /// Whether a prediction or `write` has changed the contents.
  private var isUsed = false
  /// The content key of the model that it is for.
  package let model: String
  /// The types of states whose sizes the model leaves open, by name.
  package let types: [String: TensorType]

  package init(model: String = "", types: [String: TensorType] = [:]) {
    self.model = model
    self.types = types
  }

  /// The devices that hold contents; empty before the first use. Call it only while no prediction uses the memory.
  package var holders: Set<String> {
    Set(cells.values.compactMap { cell in cell.current.flatMap { cell.devices[$0]?.info.id } })
  }

  /// Runs `body` with exclusive access to the memory.
  ///
  /// - Throws: `invalidChoice` if a prediction is using the memory, or has made its contents invalid.
  package func borrowing<Result>(_ body: () throws -> Result) throws -> Result {
    let isFree = isBorrowed.withLock { isBorrowed in
      defer { isBorrowed = true }
      return !isBorrowed
    }
    guard isFree else {
      throw RuntimeError.invalidChoice(
        "the state is in use by another prediction; wait for it, or make a state for each sequence of predictions")
    }
    defer { isBorrowed.withLock { $0 = false } }
    guard !isSpoiled.withLock(\.self) else {
      throw RuntimeError.invalidChoice(
        "the model's file was written to during the last prediction with this state; make a new one with makeState()")
    }
    return try body()
  }

  /// Marks the contents as invalid; every later use throws.
  package func spoil() { isSpoiled.withLock { $0 = true } }

  /// Fills the states with zeros, in the existing memory.
  ///
  /// - Throws: the errors of `borrowing`; `device` if zeros cannot be written.
  package func clear() throws(RuntimeError) {
    do {
      try borrowing {
        if let failure { throw failure }
        for cell in cells.values {
          if let current = cell.current, let buffer = cell.buffers[current] { try Self.clear(buffer, cell.byteCount) }
        }
        isUsed = false
      }
    } catch let error as RuntimeError { throw error } catch let error as DeviceError { throw .device(error) } catch {
      throw .invalidChoice("\(error)")
    }
  }

  /// Returns the session of a compiled model on this memory, after moving the contents to the model's devices. Call
  /// it only while the memory is borrowed.
  package func session(of model: CompiledModel) throws(RuntimeError) -> Session {
    let session = try context.session(of: model, states: self)
    do {
      for (state, domain) in zip(model.graph.states, model.layout.stateDomains) { try move(state.name, to: domain) }
    } catch { throw .device(error) }
    return session
  }

  /// Runs a prediction that reads and writes the states.
  ///
  /// - Throws: the errors of `body`. After a device failure the memory starts again with zeros if no prediction had
  ///   used it. Otherwise its contents are lost, and every later use throws that failure.
  package func using<Result>(_ model: CompiledModel, _ body: (Session) throws -> Result) throws -> Result {
    if let failure { throw RuntimeError.device(failure) }
    try leaveFailedDevices()
    var session: Session?
    do {
      let made = try self.session(of: model)
      session = made
      let result = try body(made)
      isUsed = true
      return result
    } catch RuntimeError.device(let error) {
      context.drop { _ in true }
      // Invalid data is an error of the run, not of the device: the states keep their contents, as after a cancelled
      // run.
      guard error.isOfDevice else {
        isUsed = isUsed || session != nil
        throw RuntimeError.device(error)
      }
      // Nothing has been written yet, and the existing contents can still be moved.
      if session == nil, !error.takesDeviceOut { throw RuntimeError.device(error) }
      giveUp(error)
      throw RuntimeError.device(failure ?? error)
    }
  }

  /// Gives up the contents after a failure that concerns the results of the latest prediction. Call it only while the
  /// memory is borrowed.
  ///
  /// - Throws: the failure with the advice to make a new state, if a prediction has used the memory.
  package func lose(_ error: DeviceError) throws {
    giveUp(error)
    if let failure { throw RuntimeError.device(failure) }
  }

  private func giveUp(_ error: DeviceError) {
    if isUsed {
      failure = DeviceError(
        error.code == .outOfMemory ? .execution : error.code, device: error.device, place: error.place,
        reason: "\(error.reason); the state that the prediction was using is lost: make a new one with makeState()")
    }
    cells = [:]
    context = ExecutionContext(sessionLimit: Self.sessionLimit)
  }

  /// Releases memory of devices that failed since the latest prediction, in other work. They may have been opened anew.
  ///
  /// - Throws: the failure if such a device holds contents.
  private func leaveFailedDevices() throws {
    if let error = cells.values.lazy.compactMap(\.failure).first {
      try lose(error)
    }
    context.drop { $0.model.isOut }
    for (name, cell) in cells {
      for (domain, device) in cell.devices where device.health.failure != nil { cells[name]?.buffers[domain] = nil }
    }
  }

  /// Returns the buffer of a state in a domain, and creates it if there is none.
  func buffer(_ name: String, byteCount: Int, domain: String, on device: any Device) throws(DeviceError) -> any Buffer {
    var cell = cells[name] ?? Cell(byteCount: byteCount)
    if let known = cell.buffers[domain] { return known }
    let made = try device.makeBuffer(byteCount: max(byteCount, 1))
    try Self.clear(made, byteCount)
    cell.buffers[domain] = made
    cell.devices[domain] = device
    cell.current = cell.current ?? domain
    cells[name] = cell
    return made
  }

  /// Moves a state's contents to a domain that already has a buffer.
  private func move(_ name: String, to domain: String) throws(DeviceError) {
    guard var cell = cells[name], let current = cell.current, current != domain, let source = cell.buffers[current],
      let target = cell.buffers[domain]
    else { return }
    let staging = try HostBuffer(byteCount: cell.byteCount)
    let memory = UnsafeMutableRawBufferPointer(start: staging.hostPointer, count: cell.byteCount)
    try source.read(into: memory, at: 0)
    try target.write(UnsafeRawBufferPointer(memory), at: 0)
    cell.current = domain
    cells[name] = cell
  }

  /// Returns a state's contents, dense and row-major; nil if the state has no memory yet. Call it only while the
  /// memory is borrowed.
  package func read(_ name: String) throws(DeviceError) -> Bytes? {
    guard let cell = cells[name], let current = cell.current, let buffer = cell.buffers[current] else { return nil }
    return try Bytes(count: cell.byteCount) { (raw) throws(DeviceError) in try buffer.read(into: raw, at: 0) }
  }

  /// Sets a state's contents. Call it only while the memory is borrowed.
  package func write(_ name: String, _ bytes: Bytes) throws(DeviceError) {
    var cell = cells[name] ?? Cell(byteCount: bytes.count)
    precondition(bytes.count == cell.byteCount)
    isUsed = true
    if cell.current == nil {
      cell.buffers[BufferLayout.hostDomain] = try HostBuffer(byteCount: bytes.count)
      cell.current = BufferLayout.hostDomain
    }
    if let current = cell.current, let buffer = cell.buffers[current] {
      try bytes.withUnsafeBytes { (raw) throws(DeviceError) in try buffer.write(raw, at: 0) }
    }
    cells[name] = cell
  }

  private static func clear(_ buffer: any Buffer, _ byteCount: Int) throws(DeviceError) {
    let zeros = try HostBuffer(byteCount: byteCount)
    try buffer.write(UnsafeRawBufferPointer(start: zeros.hostPointer, count: byteCount), at: 0)
  }
}
