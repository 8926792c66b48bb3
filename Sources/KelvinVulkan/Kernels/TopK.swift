import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func rank(_ pass: RankPass) -> KernelDispatch<VulkanProgram> {
    let (element, index, lines) = (Element(pass.scalar), Element(pass.index), pass.lines)
    let specializationConstants = [element.kind.rawValue, pass.takesLargest ? 1 : 0, index.isPair ? 1 : 0]
    guard !pass.isFirst else {
      let parameters = Parameters([pass.count, lines.length, lines.inner, pass.span, pass.kept] + pass.strides)
      return flat(
        "rank_elements", [element.format], specializationConstants: specializationConstants,
        parameters.inverses(lines.inner, lines.length, pass.span), count: pass.count)
    }
    let parameters = Parameters(
      [pass.count, lines.length, lines.inner, pass.span, pass.stored, pass.runs, pass.kept] + pass.strides)
    return flat(
      "rank_runs", [element.format, .uint], specializationConstants: specializationConstants + [RankPass.arity],
      parameters.inverses(pass.stored, pass.runs, lines.inner), count: pass.count)
  }
}
