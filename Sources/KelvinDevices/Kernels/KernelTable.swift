package import KelvinGraph

/// Which operators a device has kernels for: one entry for each operator type, added by an explicit list.
///
/// `Context` is what a kernel needs to know of its node; `Kernel` is what the device makes of it: a closure, a
/// pipeline, a list of dispatches.
package struct KernelTable<Context, Kernel>: Sendable {
  private typealias Entry = @Sendable (any Operator, Context) -> Result<[KernelOffer<Kernel>], DeviceError>
  private var entries: [ObjectIdentifier: Entry] = [:]

  package init() {}

  /// Adds the kernels of one operator: all its ways to compute a node, best first. Where none can serve a particular
  /// node it throws `.unsupported`.
  package mutating func addOffers<Op: Operator>(
    _ type: Op.Type, _ make: @escaping @Sendable (Op, Context) throws(DeviceError) -> [KernelOffer<Kernel>]
  ) {
    entries[ObjectIdentifier(type)] = { op, context in
      guard let op = op as? Op else { preconditionFailure("\(type) registered under another operator") }
      return Result { () throws(DeviceError) -> [KernelOffer<Kernel>] in try make(op, context) }
    }
  }

  /// Adds the only kernel of one operator, on dense tensors and in float32 or, of integers, exact. Where it cannot
  /// serve a particular node it throws `.unsupported`.
  package mutating func add<Op: Operator>(
    _ type: Op.Type, _ make: @escaping @Sendable (Op, Context) throws(DeviceError) -> Kernel
  ) {
    addOffers(type) { (op, context) throws(DeviceError) in [KernelOffer(try make(op, context))] }
  }

  package func contains(_ op: any Operator) -> Bool { entries[ObjectIdentifier(type(of: op))] != nil }

  /// The ways to compute a node, or nil where the table has none for its operator.
  package func offers(for op: any Operator, _ context: Context) throws(DeviceError) -> [KernelOffer<Kernel>]? {
    guard let entry = entries[ObjectIdentifier(type(of: op))] else { return nil }
    return try entry(op, context).get()
  }

  /// The best of them.
  package func kernel(for op: any Operator, _ context: Context) throws(DeviceError) -> Kernel? {
    try offers(for: op, context)?.first?.kernel
  }
}
