import Glibc

extension Collection<Double> {
  /// The mean in which a factor counts as much as its inverse; 1 where there is nothing, the factor that changes nothing.
  package var geometricMean: Double {
    isEmpty ? 1 : exp(reduce(0) { $0 + log($1) } / Double(count))
  }
}
