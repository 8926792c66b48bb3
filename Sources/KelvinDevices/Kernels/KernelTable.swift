package import KelvinGraph

/// The kernels of a device by operator type. Each entry is registered explicitly.
///
/// `Context` describes the node to a kernel. `Kernel` is the device's representation: a closure, a pipeline, a list
/// of dispatches.
package struct KernelTable<Context, Kernel>: Sendable {
  private typealias Entry = @Sendable (any Operator, Context) -> Result<[KernelOffer<Kernel>], DeviceError>
  private var entries: [ObjectIdentifier: Entry] = [:]

  package init() {}

  /// Registers the kernels of one operator: all implementations of a node, best first. `make` throws `.unsupported`
  /// if none supports a particular node.
  package mutating func addOffers<Op: Operator>(
    _ type: Op.Type, _ make: @escaping @Sendable (Op, Context) throws(DeviceError) -> [KernelOffer<Kernel>]
  ) {
    entries[ObjectIdentifier(type)] = { op, context in
      guard let op = op as? Op else { preconditionFailure("\(type) registered under another operator") }
      return Result { () throws(DeviceError) -> [KernelOffer<Kernel>] in try make(op, context) }
    }
  }

  /// Registers the only kernel of one operator, on dense tensors; it computes in float32, or exactly for integers.
  /// `make` throws `.unsupported` if it does not support a particular node.
  package mutating func add<Op: Operator>(
    _ type: Op.Type, _ make: @escaping @Sendable (Op, Context) throws(DeviceError) -> Kernel
  ) {
    addOffers(type) { (op, context) throws(DeviceError) in [KernelOffer(try make(op, context))] }
  }

  package func contains(_ op: any Operator) -> Bool { entries[ObjectIdentifier(type(of: op))] != nil }

  /// Returns the implementations of a node, or nil if the table has none for its operator.
  package func offers(for op: any Operator, _ context: Context) throws(DeviceError) -> [KernelOffer<Kernel>]? {
    guard let entry = entries[ObjectIdentifier(type(of: op))] else { return nil }
    return try entry(op, context).get()
  }

  /// Returns the kernel of the best offer.
  package func kernel(for op: any Operator, _ context: Context) throws(DeviceError) -> Kernel? {
    try offers(for: op, context)?.first?.kernel
  }
}
