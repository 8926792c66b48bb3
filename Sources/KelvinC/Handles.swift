import Glibc
import Kelvin
import Synchronization

/// What a handle stands for.
protocol HandleValue: AnyObject, Sendable {
  /// What errors call it: `model`.
  static var noun: String { get }
}

/// What C holds in place of pointers: numbers, each given once, so that one that was released is told from every other.
///
/// A number is 0x4B, a count of how often its place was used, and the place. No processor has such an address, so that
/// following one fails at once.
enum Handles {
  fileprivate struct Place {
    var object: (any HandleValue)?
    var use: UInt = 0
  }

  fileprivate struct Table {
    var places: [Place] = []
    var free: [Int] = []
    /// The process that used Kelvin first.
    var process: pid_t = 0
  }

  private static let table = Mutex(Table())
  fileprivate static let placeBits: UInt = 24
  fileprivate static let useBits: UInt = 32
  private static let mark: UInt = 0x4B << (placeBits + useBits)

  /// - Throws: `HandleError` in a process that was forked from one that used Kelvin.
  static func checkProcess() throws { try table.withLock { table in try table.checkProcess() } }

  /// A new handle.
  ///
  /// - Throws: `HandleError` where there are 2^24 already.
  static func add(_ object: some HandleValue) throws -> OpaquePointer {
    try table.withLock { table in
      try table.checkProcess()
      if table.free.isEmpty {
        guard table.places.count < 1 << placeBits else {
          throw HandleError("there are \(table.places.count) handles already; release some")
        }
        table.free.append(table.places.count)
        table.places.append(Place())
      }
      let place = table.free.removeLast()
      table.places[place].object = object
      table.places[place].use = (table.places[place].use + 1) & (1 << useBits - 1)
      let handle = OpaquePointer(bitPattern: mark | table.places[place].use << placeBits | UInt(place))
      guard let handle else { throw HandleError("there is no such handle") }
      return handle
    }
  }

  /// What a handle stands for, within `answer`, which has checked the process.
  ///
  /// - Throws: `HandleError`.
  static func find<Object: HandleValue>(_ handle: OpaquePointer?, as type: Object.Type = Object.self) throws -> Object {
    try table.withLock { table in
      let object = try table.object(handle, type.noun)
      guard Swift.type(of: object) == type else {
        throw HandleError("expected a handle of \(type.noun), got one of \(Swift.type(of: object).noun)")
      }
      return unsafeDowncast(object, to: type)
    }
  }

  /// What a handle stands for; nil for NULL.
  ///
  /// - Throws: `HandleError`.
  static func findOptional<Object: HandleValue>(
    _ handle: OpaquePointer?, as type: Object.Type = Object.self
  ) throws -> Object? {
    handle == nil ? nil : try find(handle, as: type)
  }

  /// Lets go of what a handle stands for; nothing for one that stands for nothing, or for something else.
  static func release<Object: HandleValue>(_ handle: OpaquePointer?, as type: Object.Type) {
    // What is let go of may take long to end: that happens beside the lock.
    _ = table.withLock { table -> (any HandleValue)? in
      guard (try? table.checkProcess()) != nil, let object = try? table.object(handle, type.noun), object is Object,
        let handle
      else { return nil }
      let place = Int(UInt(bitPattern: handle) & (1 << placeBits - 1))
      table.places[place].object = nil
      table.free.append(place)
      return object
    }
  }
}

extension Handles.Table {
  /// - Throws: `HandleError` in a process that was forked from one that used Kelvin.
  fileprivate mutating func checkProcess() throws {
    let own = getpid()
    if process == 0 { process = own }
    guard process == own else {
      throw HandleError(
        "this process was forked from one that used Kelvin, whose threads it does not have; start a new program "
          + "(in Python: multiprocessing's 'spawn'), or load models after the fork alone")
    }
  }

  fileprivate func object(_ handle: OpaquePointer?, _ noun: String) throws -> any HandleValue {
    guard let handle else { throw HandleError("expected a handle of \(noun), got NULL") }
    let bits = UInt(bitPattern: handle)
    let place = Int(bits & (1 << Handles.placeBits - 1))
    guard bits >> (Handles.placeBits + Handles.useBits) == 0x4B, places.indices.contains(place) else {
      throw HandleError("expected a handle of \(noun), got a pointer that is no handle")
    }
    let use = bits >> Handles.placeBits & (1 << Handles.useBits - 1)
    guard use == places[place].use, let object = places[place].object else {
      throw HandleError("expected a handle of \(noun), got one that was released")
    }
    return object
  }
}

/// A handle or a pointer that cannot be used.
struct HandleError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
