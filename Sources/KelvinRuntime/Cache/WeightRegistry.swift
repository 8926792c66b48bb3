package import KelvinDevices
import Synchronization

/// Stores of packed weights by name, each shared by everybody who asks for it and gone with the last one who holds it.
/// Devices know what they have uploaded by the store's identity, so two compilations share weights only where they
/// share the store.
package final class WeightRegistry<Store: PackedWeights>: Sendable {
  private struct Entry {
    weak var store: Store?
  }

  private struct Entries {
    var byName: [String: Entry] = [:]
    /// How many there may be before those that are gone are taken out, so that each is looked at a few times.
    var limit = 16
  }

  private let entries = Mutex(Entries())

  package init() {}

  /// The store of this name, made where nobody holds one.
  package func store(_ name: String, make: () -> Store) -> Store {
    entries.withLock { entries in
      if let store = entries.byName[name]?.store { return store }
      if entries.byName.count >= entries.limit {
        entries.byName = entries.byName.filter { $0.value.store != nil }
        entries.limit = max(16, 2 * entries.byName.count)
      }
      let store = make()
      entries.byName[name] = Entry(store: store)
      return store
    }
  }

  /// Gives out none of the present stores again; who has one keeps it.
  package func forget() { entries.withLock { $0.byName = [:] } }

  /// Does not give out a store again.
  func forget(_ store: Store) { entries.withLock { $0.byName = $0.byName.filter { $0.value.store !== store } } }
}
