internal import KelvinDevices
package import KelvinGraph

/// One kernel as both GPU devices run it: a source in `Shaders`, what it is compiled for, its operands, its parameters
/// and its grid. `GPUTarget.dispatch` turns a kernel into the device's dispatch.
///
/// The kernel's source declares all of them in this order: the specialization constants of its types, its own
/// constants, then the parameters of its grid and its own parameters.
package struct GPUKernel: Sendable {
  /// An element type, and the macro that names it in sources.
  package enum ElementType: Hashable, Sendable {
    /// `ELEMENT`, whose bits are only moved.
    case moved(ScalarType)
    /// `ELEMENT`, which the kernel computes with. Floats are float32.
    case number(ScalarType)
    /// `INDEX`, of positions that are read.
    case index(ScalarType)
    /// `RESULT`, which the kernel writes.
    case result(ScalarType)
    /// `RESULT`, to which the kernel converts elements of another type.
    case cast(from: ScalarType, to: ScalarType)
  }

  package enum Operand: Hashable, Sendable {
    /// Floats, which may be stored as float16; `blocks` are read by vectors.
    case floats, blocks
    /// Floats that are always stored as float32.
    case wideFloats
    /// Weights in vectors of four, which may be float16 beside float32 values.
    case packed
    /// 32-bit words, or truth values.
    case words
    /// Elements of the first type, or of the index type.
    case elements, indices
  }

  package enum Grid: Sendable {
    /// Rows of elements, each of which the kernel computes alone (`ROW_PARAMETERS`). An element costs as much as moving
    /// `cost` elements.
    case rows(Int, of: Int, cost: Int)
    /// One row of so many floats, a vector at a time.
    case vectors(Int)
    /// Groups that share rows of a reduction (`Shaders/shared/lines.kernel`).
    case groups(RowGroups)
    /// So many groups along x and y, each of which computes something together. The kernel has no parameters for them.
    /// A group has `of` invocations, at most `GPUTarget.widestGroup`, or those of the device.
    case shared(Int, Int, of: Int?)
  }

  /// The kernel's source and function.
  package let name: String
  package let types: [ElementType]
  /// Integers that the kernel is compiled for, by their names in sources. OpenCL programs serve all numbers of `AXES`
  /// before the last and, if functions are fast to compile, all functions: `SELECTED` or `VARIANT` is the number of the
  /// function, which is the first parameter, too.
  package let constants: [(name: String, value: Int)]
  package let operands: [Operand]
  package let parameters: Parameters
  package let grid: Grid
  /// Whether the result is float32 even if floats are stored as float16 (`PARTS`).
  package let makesParts: Bool
  /// The macro of a variant of the source, in lower case: a SPIR-V module of its own.
  package private(set) var variant: String?

  /// Creates a kernel over `rows` rows of `length` elements.
  package init(
    _ name: String, _ types: [ElementType] = [], constants: [(name: String, value: Int)] = [], reads: [Operand],
    _ parameters: Parameters = Parameters(), rows: Int = 1, of length: Int, cost: Int = 1
  ) {
    self.init(name, types, constants, reads, parameters, .rows(rows, of: length, cost: cost), makesParts: false)
  }

  /// The kernel of a function of floats in any layout.
  package static func unary(_ function: UnaryFunction, count: Int) -> GPUKernel {
    let code = Int(function.code)
    return GPUKernel(
      "unary", [], [("VARIANT", code)], [.blocks], Parameters(code).floats(function.a, function.b), .vectors(count),
      makesParts: false)
  }

  /// Creates a kernel whose groups share rows of a reduction.
  package init(
    _ name: String, _ types: [ElementType] = [], reads: [Operand], _ parameters: Parameters = Parameters(),
    sharing groups: RowGroups, makesParts: Bool = false
  ) {
    self.init(name, types, [], reads, parameters, .groups(groups), makesParts: makesParts)
  }

  /// Creates a kernel of so many groups along x and y (`Grid.shared`).
  package init(
    _ name: String, variant: String? = nil, _ types: [ElementType] = [], constants: [(name: String, value: Int)],
    reads: [Operand], _ parameters: Parameters, groups x: Int, by y: Int = 1, of group: Int? = nil,
    makesParts: Bool = false
  ) {
    self.init(name, types, constants, reads, parameters, .shared(x, y, of: group), makesParts: makesParts)
    self.variant = variant
  }

  /// Returns the variant of the kernel whose macro this is.
  package func variant(_ macro: String) -> GPUKernel {
    var kernel = self
    kernel.variant = macro
    return kernel
  }

  private init(
    _ name: String, _ types: [ElementType], _ constants: [(name: String, value: Int)], _ operands: [Operand],
    _ parameters: Parameters, _ grid: Grid, makesParts: Bool
  ) {
    (self.name, self.types, self.constants, self.operands) = (name, types, constants, operands)
    (self.parameters, self.grid, self.makesParts) = (parameters, grid, makesParts)
  }

  /// Creates a kernel over broadcast operands.
  ///
  /// - Parameter parameters: the parameters before those of the iteration.
  package init(
    _ name: String, _ types: [ElementType], constants: [(name: String, value: Int)] = [], reads: [Operand],
    _ parameters: Parameters = Parameters(), over iteration: StridedIteration, cost: Int = 1
  ) {
    let length = iteration.axes[iteration.axes.count - 1].size
    self.init(
      name, types, constants: [("AXES", iteration.axes.count - 1)] + constants, reads: reads,
      parameters.followed(by: iteration.parameters),
      rows: iteration.axes.dropLast().reduce(1) { $0 * $1.size }, of: length, cost: cost)
  }
}

extension KernelContext {
  /// Returns a lowering to one kernel that reads all inputs and writes the only output, dense.
  func dense(_ kernel: GPUKernel) -> NodeLowering<Target> { dense(target.dispatch(kernel)) }
}

extension Lowering {
  /// Adds a kernel (`run`).
  @discardableResult package func run(_ kernel: GPUKernel, _ reads: [Storage], _ write: Storage) -> Storage {
    run(target.dispatch(kernel), reads, write)
  }
}
