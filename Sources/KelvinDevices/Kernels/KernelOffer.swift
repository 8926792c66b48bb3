package import KelvinGraph

/// One implementation of a node on a device.
///
/// `Kernel` is the device's representation: a closure, a pipeline, a list of dispatches.
package struct KernelOffer<Kernel> {
  /// Identifies the implementation among those of the operator, equal on every run and independent of the node:
  /// `tiles`.
  package var key: String
  package var layouts: KernelLayouts
  /// The extra cost over the node's best implementation, in elements moved. `LayoutPlan` weighs it against
  /// conversions.
  package var extraCost: Double
  /// The precision of the computation.
  package var precision: Precision
  package var kernel: Kernel
  /// Identifies the kernel among its alternatives, equal on every run; empty if it has none.
  package var variant = ""
  /// Kernels with bit-identical results in the same layouts that differ from `kernel` only in speed, for example in
  /// tiling. They may use packed layouts of their own. Timing determines the fastest (`KernelTuning`).
  package var alternatives: [Alternative] = []

  package struct Alternative {
    /// Identifies it among the alternatives of the offer, equal on every run.
    package var name: String
    package var kernel: Kernel

    package init(_ name: String, _ kernel: Kernel) {
      self.name = name
      self.kernel = kernel
    }
  }

  package init(
    _ kernel: Kernel, _ key: String = "dense", _ layouts: KernelLayouts = .dense, extraCost: Double = 0,
    precision: Precision = .full
  ) {
    self.key = key
    self.layouts = layouts
    self.extraCost = extraCost
    self.precision = precision
    self.kernel = kernel
  }

  /// Returns the same offer with alternatives.
  ///
  /// - Parameter variant: the name of its own kernel among them.
  package func with(_ alternatives: [Alternative], beside variant: String) -> KernelOffer {
    var offer = self
    offer.variant = variant
    offer.alternatives = alternatives
    return offer
  }

  /// Replaces the kernel by an alternative.
  mutating func take(_ alternative: Alternative) {
    (kernel, variant) = (alternative.kernel, alternative.name)
  }

  /// The implementation and its kernel: `tiles 4x2`.
  var name: String { variant.isEmpty ? key : "\(key) \(variant)" }
}

extension KernelOffer: Sendable where Kernel: Sendable {}
extension KernelOffer.Alternative: Sendable where Kernel: Sendable {}
