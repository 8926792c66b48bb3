/// The processing units that tensors are computed on.
public struct MLComputePolicy: Hashable, Sendable {
  /// The CPU.
  public static var cpuOnly: MLComputePolicy { MLComputePolicy(.cpuOnly) }
  /// The CPU and every GPU.
  public static var cpuAndGPU: MLComputePolicy { MLComputePolicy(.cpuAndGPU) }

  /// The policy of the current task; nil outside `withMLTensorComputePolicy`.
  @TaskLocal static var current: MLComputePolicy?

  let computeUnits: MLComputeUnits

  /// Creates the policy for some units.
  public init(_ computeUnits: MLComputeUnits) { self.computeUnits = computeUnits }
}

extension MLComputePolicy: CustomStringConvertible, CustomReflectable {
  public var description: String { "MLComputePolicy(\(computeUnits))" }
  public var customMirror: Mirror { Mirror(self, children: ["computeUnits": computeUnits]) }
}

/// Calls `body` with a policy for the tensors that it makes or materializes.
///
/// A tensor keeps the policy that it was made with: it may be materialized after `body` has returned.
public func withMLTensorComputePolicy<Result>(
  _ computePolicy: MLComputePolicy, _ body: () throws -> Result
) rethrows -> Result {
  try MLComputePolicy.$current.withValue(computePolicy, operation: body)
}

/// Calls `body` with a policy for the tensors that it makes or materializes.
///
/// A tensor keeps the policy that it was made with: it may be materialized after `body` has returned.
public func withMLTensorComputePolicy<Result>(
  _ computePolicy: MLComputePolicy, isolation: isolated (any Actor)? = #isolation,
  _ body: () async throws -> Result
) async rethrows -> Result {
  try await MLComputePolicy.$current.withValue(computePolicy, operation: body, isolation: isolation)
}
