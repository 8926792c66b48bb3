import KelvinBasics
import KelvinPlanning
import Testing

@Suite("Blocks of a plan")
struct PlanBlockTests {
  /// Twelve times four nodes between two others, all on the CPU.
  private var plan: Plan {
    func node(_ name: String, _ computation: String) -> Plan.Node {
      var node = Plan.Node(
        name: name, op: "linear", origins: [], device: "cpu", reason: "cheapest here", regret: nil,
        candidates: [PlanCandidate(device: "cpu", seconds: 1, source: .measured)], transfers: [])
      node.computation = computation
      return node
    }
    let blocks = (0..<12).flatMap { block in (0..<4).map { node("n\(block)_\($0)", "linear \($0)") } }
    return Plan(
      subject: .init(
        model: "m", modelKey: "", graph: "", machine: "", devices: [], units: "cpu", precision: "full"),
      goal: .latency, predicted: 50, method: .exact, gap: 0, bestSingleDevice: nil,
      nodes: [node("first", "stem")] + blocks + [node("last", "head")])
  }

  private let whole = RepeatedBlock(start: 1, period: 4, count: 12)

  @Test("layers that differ only in their names are one block")
  func found() {
    #expect(plan.repeatedBlocks == [whole])
  }

  @Test(
    "nodes with a remark are not folded into blocks",
    arguments: 0..<7)
  func unfolded(what: Int) {
    var plan = plan
    let odd = 1 + 4 * 6 + 2
    switch what {
    case 0: plan.nodes[odd].device = "vulkan:0"
    case 1: plan.nodes[odd].reason = "pinned"
    case 2:
      plan.nodes[odd].transfers = [PlannedTransfer(value: "v", from: "cpu", to: "vulkan:0", bytes: 1, seconds: 1)]
    case 3: plan.nodes[odd].computation = "linear 9"
    case 4: plan.nodes[odd].computation = nil
    case 5: plan.nodes[odd].candidates.append(PlanCandidate(device: "opencl:0", unsupported: "too large"))
    default: plan.nodes[odd].describeControl(turns: 1)
    }
    let blocks = plan.repeatedBlocks
    #expect(!blocks.isEmpty && blocks.allSatisfy { !$0.range.contains(odd) }, "\(blocks)")
  }

  @Test("a short plan is not folded")
  func short() {
    var plan = plan
    plan.nodes = Array(plan.nodes.prefix(Plan.fewestFolded))
    #expect(plan.repeatedBlocks.isEmpty)
  }

  @Test("the plan file records the work of a node, so that later pages fold it")
  func kept() throws {
    #expect(try Plan(json: plan.json()).repeatedBlocks == [whole])
  }
}
