package import KelvinDevices
import Synchronization

/// Stores of packed weights by name. All callers share the store of a name while anybody holds it. Devices recognize
/// uploaded weights by the store's identity, so two compilations share weights only if they share the store.
package final class WeightRegistry<Store: PackedWeights>: Sendable {
  private struct Entry {
    weak var store: Store?
  }

  private struct Entries {
    var byName: [String: Entry] = [:]
    /// The entry count at which entries of released stores are removed; it doubles, which bounds the cost per
    /// insertion.
    var limit = 16
  }

  private let entries = Mutex(Entries())

  package init() {}

  /// Returns the store of this name, and creates it if there is none.
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

  /// Stops returning the present stores. Callers that hold one keep it.
  package func forget() { entries.withLock { $0.byName = [:] } }

  /// Stops returning this store.
  func forget(_ store: Store) { entries.withLock { $0.byName = $0.byName.filter { $0.value.store !== store } } }
}
