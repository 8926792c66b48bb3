package import KelvinDevices
import Synchronization

/// Stores of packed weights by name, each shared by everybody who asks for it and gone with the last one who holds it.
/// Devices know what they have uploaded by the store's identity, so two compilations share weights only where they
/// share the store.
package final class WeightRegistry<Store: PackedWeights>: Sendable {
  private struct Entry {
    weak var store: Store?
  }

  private let entries = Mutex<[String: Entry]>([:])

  package init() {}

  /// The store of this name, made where nobody holds one.
  package func store(_ name: String, make: () -> Store) -> Store {
    entries.withLock { entries in
      if let store = entries[name]?.store { return store }
      entries = entries.filter { $0.value.store != nil }
      let store = make()
      entries[name] = Entry(store: store)
      return store
    }
  }

  /// Gives out none of the present stores again; who has one keeps it.
  package func forget() { entries.withLock { $0 = [:] } }

  /// Does not give out a store again.
  func forget(_ store: Store) { entries.withLock { entries in entries = entries.filter { $0.value.store !== store } } }
}
