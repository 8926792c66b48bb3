import KelvinEngine
import KelvinGraph
import KelvinHostOperations
import KelvinImport
import KelvinPasses
import KelvinReference
import TestSupport
import Testing

extension HeavyTests {
  @Suite(.enabled(if: Shared.isPresent, Comment(rawValue: Shared.reason)))
  struct SharedModelTests {
    @Test func mobileNetFromONNXKeepsItsOperationsAndShapes() throws {
      let graph = try readModel(at: Shared.model("MobileNetV2_f32.onnx")).graph()
      #expect(graph.nodes.count == 53 + 35 + 10 + 1 + 1 + 1)
      #expect(graph.types(graph.inputs) == [TensorType(.float32, [1, 3, 224, 224])])
      #expect(graph.types(graph.outputs) == [TensorType](repeating: TensorType(.float32, [1, 1000]), count: 2))
    }

    @Test func mobileNetFromPackageKeepsItsOperationsFeaturesAndLabels() throws {
      let program = try readModel(at: Shared.model("MobileNetV2_f16.mlpackage"))
      let graph = try program.graph()
      // Convolutions, clamped activations, sums, casts, and one each of product, mean, reshape and softmax.
      #expect(graph.nodes.count == 53 + 35 + 11 + 2 + 4)
      #expect(program.source.version == 7)
      #expect(program.metadata.summary.hasPrefix("MobileNetV2"))
      let function = try program.main
      guard case .image(let image) = try #require(function.inputs.first).type else {
        Issue.record("the input is not an image")
        return
      }
      #expect(image.width == 224 && image.height == 224 && image.layout == .rgb)
      #expect(function.outputs.map(\.name) == ["classLabel", "classLabel_probs"])
      #expect(function.outputs.map(\.type) == [.string, .dictionary(keys: .string)])
      let classifier = try #require(function.classification)
      #expect(classifier.labelOutput == "classLabel")
      #expect(classifier.probabilitiesOutput == "classLabel_probs")
      let scores = try #require(function.graphParts[0].outputs.firstIndex(of: classifier.scores))
      #expect(classifier.labels.count == graph[graph.outputs[scores]].type.count)
    }

    @Test(.slow) func mobileNetLogitsMatch() throws {
      let graph = try readModel(at: Shared.model("MobileNetV2_f32.onnx")).graph()
      let results = try run(graph, [Shared.array("mobilenetv2_owl_input.npy")])
      let expected = try Shared.array("mobilenetv2_owl_logits.npy").floats
      #expect(zip(results[0].floats, expected).allSatisfy { abs($0 - $1) < 1e-3 })
    }

    @Test func shapeArithmeticOfADetectorIsFolded() throws {
      let graph = try readModel(at: Shared.model("ultraface_version-RFB-320.onnx")).graph()
      // They only compute sizes for reshapes.
      #expect(Set(graph.nodes.flatMap(\.origins).map(\.kind)).isDisjoint(with: ["Shape", "Gather", "Constant"]))
      #expect(graph.types(graph.outputs) == [TensorType(.float32, [1, 4420, 2]), TensorType(.float32, [1, 4420, 4])])
      #expect(try Pipeline.standard(ReferenceEvaluator()).run(graph).graph.nodes.count < graph.nodes.count)
    }

    @Test func digitClassifierOfOperatorSet7IsRead() throws {
      let program = try readModel(at: Shared.model("mnist.onnx"))
      let graph = try program.graph()
      #expect(graph.types(graph.inputs) == [TensorType(.float32, [1, 1, 28, 28])])
      #expect(graph.types(graph.outputs) == [TensorType(.float32, [1, 10])])
      // One of its two reshapes is of a weight.
      #expect(graph.nodes.count == 12 - 1)
      #expect(program.metadata.userDefined["producer"] == "CNTK")
    }

    @Test func modelsOfOtherTypesAreRefusedWithTheirType() throws {
      for (name, word) in [("refused/OrientedImageClassifier_createml.mlmodel", "visionFeaturePrint")] {
        do {
          _ = try readModel(at: Shared.model(name))
          Issue.record("\(name) was read")
        } catch {
          #expect(error.code == .unsupported)
          #expect(error.description.contains(word), "\(error)")
        }
      }
    }

    @Test func quantizedModelKeepsItsEncoding() throws {
      let nodes = try readModel(at: Shared.model("MobileNetV2_int8_qdq.onnx")).graph().nodes
      #expect(nodes.count { $0.op is Quantize } == 65)
      #expect(nodes.count { $0.op is Dequantize } == 171)
      #expect(nodes.count { $0.op is Convolution } == 53)
    }
  }
}
