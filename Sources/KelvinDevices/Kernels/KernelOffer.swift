package import KelvinGraph

/// One way in which a device computes a node.
///
/// `Kernel` is what the device makes of it: a closure, a pipeline, a list of dispatches.
package struct KernelOffer<Kernel> {
  /// Tells the ways of an operator apart on every run, and names no node: `tiles`.
  package var key: String
  package var layouts: KernelLayouts
  /// What it costs more than the best way of the node, in elements moved; weighed by `LayoutPlan` against conversions.
  package var handicap: Double
  /// In what it computes.
  package var precision: Precision
  package var kernel: Kernel
  /// Tells the kernel apart from its alternatives on every run; empty where it has none.
  package var variant = ""
  /// Kernels that give the same numbers, bit for bit, in the same layouts, and differ from `kernel` in speed alone: in how
  /// the work is cut, say. They may pack weights in their own form. Which is fastest is found by timing (`KernelTuning`).
  package var alternatives: [Alternative] = []

  package struct Alternative {
    /// Tells it apart from the others of the offer on every run.
    package var name: String
    package var kernel: Kernel

    package init(_ name: String, _ kernel: Kernel) {
      self.name = name
      self.kernel = kernel
    }
  }

  package init(
    _ kernel: Kernel, _ key: String = "dense", _ layouts: KernelLayouts = .dense, handicap: Double = 0,
    precision: Precision = .full
  ) {
    self.key = key
    self.layouts = layouts
    self.handicap = handicap
    self.precision = precision
    self.kernel = kernel
  }

  /// The same with alternatives.
  ///
  /// - Parameter variant: which of them its kernel is.
  package func with(_ alternatives: [Alternative], beside variant: String) -> KernelOffer {
    var offer = self
    offer.variant = variant
    offer.alternatives = alternatives
    return offer
  }

  /// Makes an alternative its kernel.
  mutating func take(_ alternative: Alternative) {
    (kernel, variant) = (alternative.kernel, alternative.name)
  }

  /// The way, and which of its kernels: `tiles 4x2`.
  var name: String { variant.isEmpty ? key : "\(key) \(variant)" }
}

extension KernelOffer: Sendable where Kernel: Sendable {}
extension KernelOffer.Alternative: Sendable where Kernel: Sendable {}
