// Lists the devices, and the device and the share of cost of each operation.
//
// ComputePlans MODEL
import CoreML
import Foundation

@main
struct ComputePlans {
  static func main() async throws {
    for device in MLComputeDevice.allComputeDevices {
      switch device {
      case .cpu(let cpu): print("device: cpu \(type(of: cpu))")
      case .gpu: print("device: gpu")
      case .neuralEngine(let engine): print("device: neural engine of \(engine.totalCoreCount)")
      @unknown default: print("device: unknown")
      }
    }
    let configuration = MLModelConfiguration()
    configuration.computeUnits = .cpuOnly
    let plan = try await MLComputePlan.load(
      contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]), configuration: configuration)
    switch plan.modelStructure {
    case .program(let program):
      guard let main = program.functions["main"] else { fatalError("The program has no main function.") }
      var (weight, count) = (0.0, 0)
      for operation in main.block.operations {
        guard let usage = plan.deviceUsage(for: operation), let cost = plan.estimatedCost(of: operation) else {
          continue
        }
        if case .cpu = usage.preferred { count += 1 }
        weight += cost.weight
      }
      let convolution = main.block.operations.first { $0.operatorName.hasSuffix("conv") }
      let names = convolution?.inputs["x"]?.bindings.compactMap { binding in
        if case .name(let name) = binding { name } else { nil as String? }
      }
      print("program: \(count > 10) weight: \(String(format: "%.2f", weight)) x: \(names?.count ?? 0)")
      print("outputs: \(main.block.outputNames.isEmpty == false) inputs: \(main.inputs.map(\.name))")
    case .neuralNetwork(let network):
      let placed = network.layers.filter { plan.deviceUsage(for: $0) != nil }
      print("network: \(placed.count > 10) first: \(network.layers[0].type)")
    case .pipeline(let pipeline): print("pipeline: \(pipeline.subModelNames)")
    case .unsupported: print("unsupported")
    @unknown default: print("unknown")
    }
  }
}
