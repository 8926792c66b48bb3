import Glibc
import Kelvin
import Synchronization

/// An object that a handle refers to.
protocol HandleValue: AnyObject, Sendable {
  /// The name of the object's kind in errors, such as `a model`.
  static var noun: String { get }
}

/// The table of handles. C receives unique numbers instead of pointers, so that a released handle is distinguishable
/// from all others.
///
/// A number consists of the byte 0x4B, the use count of its slot, and the slot's index. It is not a valid address on
/// any processor, so dereferencing it fails at once.
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

  /// Creates a handle for an object.
  ///
  /// - Throws: `HandleError` if 2^24 handles exist.
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
      guard let handle else { throw HandleError("the handle does not exist") }
      return handle
    }
  }

  /// Returns a handle's object. Called within `answer`, which has checked the process.
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

  /// Returns a handle's object; nil for NULL.
  ///
  /// - Throws: `HandleError`.
  static func findOptional<Object: HandleValue>(
    _ handle: OpaquePointer?, as type: Object.Type = Object.self
  ) throws -> Object? {
    handle == nil ? nil : try find(handle, as: type)
  }

  /// Releases a handle's object. Does nothing if the handle is invalid or refers to an object of another kind.
  static func release<Object: HandleValue>(_ handle: OpaquePointer?, as type: Object.Type) {
    // Deallocating the object can take long, so it happens outside the lock.
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
          + "(in Python: multiprocessing's 'spawn'), or load models only after the fork")
    }
  }

  fileprivate func object(_ handle: OpaquePointer?, _ noun: String) throws -> any HandleValue {
    guard let handle else { throw HandleError("expected a handle of \(noun), got NULL") }
    let bits = UInt(bitPattern: handle)
    let place = Int(bits & (1 << Handles.placeBits - 1))
    guard bits >> (Handles.placeBits + Handles.useBits) == 0x4B, places.indices.contains(place) else {
      throw HandleError("expected a handle of \(noun), got a pointer that is not a handle")
    }
    let use = bits >> Handles.placeBits & (1 << Handles.useBits - 1)
    guard use == places[place].use, let object = places[place].object else {
      throw HandleError("expected a handle of \(noun), got one that was released")
    }
    return object
  }
}

/// An invalid handle or pointer.
struct HandleError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
