import KelvinCoreML
import KelvinGraph
import KelvinImport
import KelvinReference
import Testing

/// Layers of networks whose numbers are large for their file, or rare.
@Suite struct LayerExtremeTests {
  private static let (deconvolution, pooling, slidingWindows, volumes, activation) = (100, 120, 1005, 1471, 130)

  private static func feature(_ field: Int, _ name: String, _ shape: [Int]) -> [UInt8] {
    Wire.message {
      $0.message(field) {
        $0.text(1, name)
        $0.message(3) {
          $0.message(5) {
            $0.packed(1, shape)
            $0.integer(2, 65568)
          }
        }
      }
    }
  }

  private static func image(_ name: String, colorSpace: Int) -> [UInt8] {
    Wire.message {
      $0.message(10) {
        $0.text(1, name)
        $0.message(3) {
          $0.message(4) {
            $0.integer(1, 4)
            $0.integer(2, 4)
            $0.integer(3, colorSpace)
          }
        }
      }
    }
  }

  /// A network of one layer on arrays that keep their shapes.
  private static func model(
    _ layer: Int, _ shape: [Int], output: [UInt8] = feature(10, "y", []), _ parameters: (inout Wire) -> Void
  ) -> [UInt8] {
    Wire.message {
      $0.integer(1, 4)
      $0.message(2) {
        $0.append(feature(1, "x", shape))
        $0.append(output)
      }
      $0.message(500) {
        $0.message(1) {
          $0.text(1, "layer")
          $0.text(2, "x")
          $0.text(3, "y")
          $0.message(layer, parameters)
        }
        $0.integer(5, 1)
      }
    }
  }

  private static func graph(_ bytes: [UInt8]) throws -> Graph {
    let program = try readCoreML(Bytes(bytes), path: "model.mlmodel", folder: "/nonexistent", files: [])
    return try #require(program.functions.values.first).graph(shapes: [:], evaluator: ReferenceEvaluator())
  }

  private static func outputShape(_ bytes: [UInt8]) throws -> Shape {
    let graph = try graph(bytes)
    return graph[graph.outputs[0]].type.shape
  }

  private static func reason(_ bytes: [UInt8]) -> String {
    do {
      _ = try graph(bytes)
      return ""
    } catch { return "\(error)" }
  }

  @Test func lengthPoolingWithHugeWindowsHasNoWeights() throws {
    let bytes = Self.model(Self.pooling, [1, 1, 4, 4]) {
      $0.integer(1, 2)
      $0.packed(10, [40_000, 40_000])
      $0.message(30) {
        $0.message(1) {
          for _ in 0..<2 {
            $0.message(10) {
              $0.integer(1, 39_999)
              $0.integer(2, 39_999)
            }
          }
        }
      }
    }
    let graph = try Self.graph(bytes)
    #expect(graph[graph.outputs[0]].type.shape == [1, 1, 40_003, 40_003] as Shape)
    #expect(graph.values.allSatisfy { ($0.weight?.type.byteCount ?? 0) <= 1024 })
  }

  @Test func slidingWindowsWithTooManyPositionsAreRefused() {
    let bytes = Self.model(Self.slidingWindows, [16_384]) {
      $0.integer(2, 8192)
      $0.integer(3, 1)
    }
    #expect(Self.reason(bytes).contains("positions"))
  }

  @Test func slidingWindowsGiveTheirElements() throws {
    let graph = try Self.graph(
      Self.model(Self.slidingWindows, [7]) {
        $0.integer(2, 3)
        $0.integer(3, 2)
      })
    #expect(graph[graph.outputs[0]].type.shape == [3, 3] as Shape)
    let positions = graph.values.compactMap(\.weight).first { $0.type.scalar == .int32 }
    #expect(positions?.dense().integers == [0, 1, 2, 2, 3, 4, 4, 5, 6])
  }

  private static let weights = Wire.message { $0.bytes(1, littleEndian([Float](repeating: 1, count: 9))) }

  @Test(arguments: [1, 2, 3]) func deconvolutionsAreDilated(dilation: Int) throws {
    let bytes = Self.model(Self.deconvolution, [1, 1, 2, 2]) {
      $0.integer(1, 1)
      $0.integer(2, 1)
      $0.packed(20, [3, 3])
      $0.packed(40, [dilation, dilation])
      $0.message(50) { _ in }
      $0.integer(60, 1)
      $0.bytes(90, Self.weights)
    }
    let size = (2 - 1) * 1 + dilation * (3 - 1) + 1
    #expect(try Self.outputShape(bytes) == [1, 1, size, size] as Shape)
  }

  @Test func deconvolutionsOfVolumesAreDilated() throws {
    let bytes = Self.model(Self.volumes, [1, 1, 2, 2, 2]) {
      $0.integer(1, 1)
      $0.integer(2, 1)
      for (field, kernel) in [(20, 1), (21, 3), (22, 3)] { $0.integer(field, kernel) }
      for (field, dilation) in [(40, 1), (41, 2), (42, 3)] { $0.integer(field, dilation) }
      $0.bytes(60, Self.weights)
      $0.integer(70, 1)
      $0.integer(86, 1)
    }
    #expect(try Self.outputShape(bytes) == [1, 1, 2, 6, 8] as Shape)
  }

  @Test(arguments: [(colorSpace: 10, channels: 3), (20, 1), (30, 4)])
  func anImageOutputWithOtherChannelsIsRefused(colorSpace: Int, channels: Int) throws {
    let bytes = Self.model(Self.activation, [1, channels, 4, 4], output: Self.image("y", colorSpace: colorSpace)) {
      $0.message(10) { _ in }
    }
    #expect(Self.reason(bytes).contains("expected an image"))
  }

  @Test(arguments: [(colorSpace: 10, channels: 1), (20, 3)])
  func anImageOutputHasTheChannelsOfItsColorSpace(colorSpace: Int, channels: Int) throws {
    func bytes(batch: Int) -> [UInt8] {
      Self.model(Self.activation, [batch, channels, 4, 4], output: Self.image("y", colorSpace: colorSpace)) {
        $0.message(10) { _ in }
      }
    }
    #expect(try Self.outputShape(bytes(batch: 1)) == [1, channels, 4, 4] as Shape)
    #expect(Self.reason(bytes(batch: 2)).contains("expected an image"))
  }
}
