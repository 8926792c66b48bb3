import Glibc

extension Collection<Double> {
  /// The geometric mean, in which a factor counts as much as its inverse; 1 for an empty collection.
  package var geometricMean: Double {
    isEmpty ? 1 : exp(reduce(0) { $0 + log($1) } / Double(count))
  }
}
