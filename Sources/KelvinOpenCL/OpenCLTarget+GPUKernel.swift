internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func dispatch(_ kernel: GPUKernel) -> KernelDispatch<KernelName> {
    var isHalf = false
    if case .moved(let scalar)? = kernel.types.first { isHalf = byteCount(scalar) == 2 }
    let constants = kernel.constants.filter { constant in
      switch constant.name {
      case "AXES", "SELECTED": false
      case "VARIANT": tuning.compilesFunctionsAlone
      default: true
      }
    }
    let numbered = constants.first { $0.name == "VARIANT" }
    let function = kernel.name + (numbered.map { "_\($0.value)" } ?? "")
    let defines =
      kernel.types.flatMap(defines) + constants.map { "\($0.name)=\($0.value)" }
      + (kernel.variant.map { [$0.uppercased()] } ?? [])
    switch kernel.grid {
    case .rows(let count, let length, let cost):
      let work = max(tuning.run / max(cost, 1), 1)
      let (rows, run) = (max(work / max(length, 1), 1), max(min(work, length), 1))
      return call(
        KernelName(program: kernel.name, defines: defines, halves: isHalf ? .all : nil, function: function),
        Parameters(count, length, rows, run).followed(by: kernel.parameters),
        items: pieces(count, of: rows) * pieces(length, of: run))
    case .vectors(let count):
      let run = max(tuning.run / lanes, 1) * lanes
      return call(
        KernelName(program: kernel.name, defines: defines, function: function),
        Parameters(1, count, 1, run).followed(by: kernel.parameters), items: pieces(count, of: run))
    case .groups(let groups):
      let name = "\(kernel.name)_lines"
      return call(
        KernelName(program: name, defines: defines + (kernel.makesParts ? [KernelName.parts] : []), function: name),
        Parameters(groups.parameters).followed(by: kernel.parameters), items: groups.count * tuning.group)
    case .shared(let count, let rows, _):
      return call(
        KernelName(
          program: kernel.name, defines: defines + (kernel.makesParts ? [KernelName.parts] : []), function: function),
        kernel.parameters, items: count * tuning.group, rows)
    }
  }

  /// A CPU runs a group on one core with vectors as lanes, so groups do not share rows there.
  var lineGroup: Int? { tuning.group > 1 ? tuning.group : nil }

  var writesOperands: Bool { true }

  private func defines(_ type: GPUKernel.ElementType) -> [String] {
    switch type {
    case .moved(let scalar): ["ELEMENT=\(bits(byteCount(scalar)))"]
    case .number(let scalar): scalar.wideDefines
    case .index(let scalar): ["INDEX=\(scalar.kernelName)"]
    case .result(let scalar): ["RESULT=\(scalar.kernelName)"]
    case .cast(let from, let to): ["RESULT=\(to.kernelName)"] + conversion(from, to)
    }
  }

  /// Returns the macros of a cast (`cast.cl`).
  private func conversion(_ from: ScalarType, _ to: ScalarType) -> [String] {
    switch to {
    case .bool: return ["CONVERT=0!="]
    case .float16 where from == .float32: return ["CONVERT=rounded_to_half", "ROUNDS"]
    case .float16, .float32, .float64: return ["CONVERT=convert_float"]
    default:
      return from.isFloatingPoint
        ? ["CONVERT=convert_\(to.kernelName)_sat_rtz", "SATURATES"] : ["CONVERT=convert_\(to.kernelName)"]
    }
  }

  /// Returns the unsigned type of a size.
  func bits(_ byteCount: Int) -> String {
    switch byteCount {
    case 1: "uchar"
    case 2: "ushort"
    case 4: "uint"
    default: "ulong"
    }
  }
}
