package import KelvinDevices
package import KelvinGraph
import Synchronization

/// The memory of a model's states for one caller: zeros at first, then what the latest prediction left.
///
/// One prediction at a time uses it. It lies on the devices that the model's plan chose; compiled forms of the model
/// for other sizes share it, and it moves where their plans want it elsewhere.
package final class StateMemory: @unchecked Sendable {
  /// A state by name, of a type.
  struct Cell {
    var byteCount: Int
    /// By memory domain; the current one has the contents.
    var buffers: [String: any Buffer] = [:]
    var current: String?
  }

  /// The contents are touched only by who holds the lock or has borrowed the memory.
  private let isBorrowed = Mutex(false)
  /// Whether a prediction that does not count has left something in it.
  private let isSpoiled = Mutex(false)
  private var cells: [String: Cell] = [:]
  /// Sessions whose recordings are bound to these buffers, by compiled model, the latest few.
  private var sessions: [(model: ObjectIdentifier, session: Session)] = []
  private static let sessionLimit = 4
  /// What these sessions run in.
  private var memory = SessionArena()
  /// What failed while a prediction was using it: what it holds since is of no use.
  private var failure: DeviceError?
  /// Whether a prediction has left something in it.
  private var isUsed = false
  /// Which model it is for: the key of its contents.
  package let model: String

  package init(model: String = "") { self.model = model }

  /// Does something with the memory while nobody else may.
  ///
  /// - Throws: `invalidChoice` where a prediction uses it, or has spoiled it.
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
        "the state was left by a prediction from a file that was written to meanwhile; make a new one with makeState()")
    }
    return try body()
  }

  /// Has nobody use what a prediction has left in it, by whoever had it made.
  package func spoil() { isSpoiled.withLock { $0 = true } }

  /// Begins anew with zeros, in the memory that there is.
  ///
  /// - Throws: as `borrowing`; `device` where zeros cannot be written.
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

  /// The session of a compiled model that computes on this memory, the contents where it has them. Only while it is
  /// borrowed.
  package func session(of model: CompiledModel) throws(RuntimeError) -> Session {
    let session = try boundSession(model)
    do {
      for (state, domain) in zip(model.graph.states, model.layout.stateDomains) { try move(state.name, to: domain) }
    } catch { throw .device(error) }
    return session
  }

  /// Has a prediction read and write the states.
  ///
  /// - Throws: what `body` throws. After a device's failure the memory begins anew where no prediction had used it;
  ///   where one had, it is of no use any more, and every later use throws that failure.
  package func using<Result>(_ model: CompiledModel, _ body: (Session) throws -> Result) throws -> Result {
    if let failure { throw RuntimeError.device(failure) }
    var session: Session?
    do {
      let made = try self.session(of: model)
      session = made
      let result = try body(made)
      isUsed = true
      return result
    } catch RuntimeError.device(let error) {
      sessions = []
      // Data that was wrong is an error of the run: what it left in the states stays, as a cancelled one's does.
      guard error.isOfDevice else {
        isUsed = isUsed || session != nil
        throw RuntimeError.device(error)
      }
      // Nothing has been written yet, and what was there can be moved.
      if session == nil, !error.takesDeviceOut { throw RuntimeError.device(error) }
      if isUsed {
        failure = DeviceError(
          error.code == .outOfMemory ? .execution : error.code, device: error.device, place: error.place,
          reason: "\(error.reason); the state that the prediction was using is lost: make a new one with makeState()")
      }
      cells = [:]
      memory = SessionArena()
      throw RuntimeError.device(failure ?? error)
    }
  }

  private func boundSession(_ model: CompiledModel) throws(RuntimeError) -> Session {
    let key = ObjectIdentifier(model)
    if let found = sessions.firstIndex(where: { $0.model == key }) {
      sessions.append(sessions.remove(at: found))
      return sessions[sessions.count - 1].session
    }
    defer { sessions.removeAll { $0.session.isOutgrown } }
    let session = try Session(model, measuresNodes: false, states: self, memory: memory)
    sessions = Array((sessions + [(key, session)]).suffix(Self.sessionLimit))
    return session
  }

  /// The buffer of a state in a domain, made where there is none.
  func buffer(_ name: String, byteCount: Int, domain: String, on device: any Device) throws(DeviceError) -> any Buffer {
    var cell = cells[name] ?? Cell(byteCount: byteCount)
    if let known = cell.buffers[domain] { return known }
    let made = try device.makeBuffer(byteCount: max(byteCount, 1))
    try Self.clear(made, byteCount)
    cell.buffers[domain] = made
    cell.current = cell.current ?? domain
    cells[name] = cell
    return made
  }

  /// Brings a state's contents to a domain whose buffer was made.
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

  /// A state's contents, dense and row-major; nil before the first prediction. Only while the memory is borrowed.
  package func read(_ name: String) throws(DeviceError) -> Bytes? {
    guard let cell = cells[name], let current = cell.current, let buffer = cell.buffers[current] else { return nil }
    return try Bytes(count: cell.byteCount) { (raw) throws(DeviceError) in try buffer.read(into: raw, at: 0) }
  }

  /// Sets a state's contents. Only while the memory is borrowed.
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
