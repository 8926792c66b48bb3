import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func dispatch(_ kernel: GPUKernel) -> KernelDispatch<VulkanProgram> {
    let elements = kernel.types.map(element)
    let constants = zip(kernel.types, elements).flatMap(specializationConstants) + kernel.constants.map(\.value)
    let formats = kernel.operands.map { operand -> OperandFormat in
      switch operand {
      case .floats: .float
      case .blocks: .float4
      case .wideFloats: .wide
      case .packed: .packed4
      case .words: .uint
      case .elements: elements[0].format
      case .indices: elements[elements.count - 1].format
      }
    }
    let name = kernel.variant.map { "\(kernel.name)_\($0)" } ?? kernel.name
    switch kernel.grid {
    case .rows(let count, let length, _):
      return flat(
        name, formats, isHalf: elements.contains(where: \.isHalf), specializationConstants: constants,
        Parameters(count, length).inverses(length).followed(by: kernel.parameters), count: count * length)
    case .vectors(let count):
      let vectors = (count + 3) / 4
      return flat(
        kernel.name, formats, specializationConstants: constants,
        Parameters(1, vectors).inverses(vectors).followed(by: kernel.parameters), count: vectors)
    case .groups(let groups):
      let (x, z) = folded(groups.count)
      return call(
        kernel.name + (kernel.makesParts ? Self.partsSuffix : "_lines"), formats, group: traits.flatGroup,
        specializationConstants: constants, Parameters(groups.parameters).followed(by: kernel.parameters),
        groups: [x, 1, z])
    case .shared(let count, let rows, let group):
      let (x, z) = rows == 1 ? folded(count) : (count, 1)
      return call(
        name + (kernel.makesParts ? Self.partsSuffix : ""), formats, group: group ?? traits.flatGroup,
        specializationConstants: constants, kernel.parameters,
        groups: [x, rows, z])
    }
  }

  /// The suffix of kernels whose result is float32 even if floats are stored as float16.
  static let partsSuffix = "_parts"

  /// Invocations of the groups that share rows.
  var lineGroup: Int? { traits.lineGroup }
  var widestGroup: Int { traits.widestGroup }

  /// Texel buffers are only read.
  var writesOperands: Bool { traits.operands == .buffers }

  private func element(_ type: GPUKernel.ElementType) -> Element {
    switch type {
    case .moved(let scalar): Element(scalar, isHalf: isHalf(scalar))
    case .number(let scalar), .index(let scalar), .result(let scalar), .cast(_, let scalar): Element(scalar)
    }
  }

  /// Returns the two constants of a type: the kind and the bits. Types that kernels read or write in the same way have
  /// the same constants.
  private func specializationConstants(_ type: GPUKernel.ElementType, _ element: Element) -> [Int] {
    switch type {
    case .moved: [(element.isPair ? Element.Kind.unsignedPair : .unsigned).rawValue, element.isPair ? 64 : 32]
    case .index: [element.kind.rawValue, element.isPair ? 64 : 32]
    case .number, .result, .cast: [element.kind.rawValue, element.bits]
    }
  }
}
