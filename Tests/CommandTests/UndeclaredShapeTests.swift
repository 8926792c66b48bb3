import TestSupport
import Testing

/// Models that declare too little to make up inputs, and inputs that only decide how graphs are built.
@Suite struct UndeclaredShapeTests {
  private static let branch = "\(Kelvin.root)/Tests/Vectors/Unusual/uneven_branch.onnx"

  private func unranked(_ folder: TemporaryFolder) -> String { folder.write(ONNXFile.unranked(), "unranked.onnx") }

  @Test(arguments: [[], [3], [2, 3], [1, 2, 3, 4]] as [[Int]])
  func inputWithoutAShapeTakesTheShapeOfItsValue(shape: [Int]) throws {
    let folder = TemporaryFolder()
    let value = folder.write(NumPyFile.bytes(shape: shape, float32: { Float($0) - 1 }), "x.npy")
    let result = Kelvin.run(
      "predict", unranked(folder), "--input", "x=\(value)", "--output-dir", folder.path, "--no-cache", "--json")
    #expect(result.status == 0, "\(result)")
    let output = try JSONValue(result.output)["outputs"]?["y"]
    #expect(output?["shape"]?.array?.compactMap(\.number) == shape.map(Double.init), "\(result.output)")
  }

  @Test func missingShapeIsGivenByAnOption() throws {
    let folder = TemporaryFolder()
    let model = unranked(folder)
    for command in [["plan"], ["predict", "--seed", "1", "--output-dir", folder.path]] {
      let refused = Kelvin.run(command + [model, "--no-cache"])
      #expect(refused.status != 0 && refused.errors.contains("--shape x="), "\(refused)")
      let result = Kelvin.run(command + [model, "--no-cache", "--shape", "x=2x3"])
      #expect(result.status == 0, "\(result)")
    }
    let inspected = Kelvin.run("inspect", model)
    #expect(inspected.output.contains("float32[…]"), "\(inspected)")
  }

  @Test func seedMakesUpInputsOnWhichGraphsAreBuilt() throws {
    let folder = TemporaryFolder()
    let result = Kelvin.run("predict", Self.branch, "--seed", "1", "--output-dir", folder.path, "--no-cache", "--json")
    #expect(result.status == 0, "\(result)")
    for name in ["c", "x"] { #expect(result.errors.contains("input '\(name)' is made up"), "\(result)") }
    // A condition that is made up is true.
    #expect(try JSONValue(result.output)["outputs"]?["y"]?["shape"]?[0]?.number == 6)
  }

  @Test func givenConditionIsKept() throws {
    let folder = TemporaryFolder()
    let result = Kelvin.run(
      "predict", Self.branch, "--input", "c=0", "--seed", "1", "--output-dir", folder.path, "--no-cache", "--json")
    #expect(result.status == 0 && !result.errors.contains("'c' is made up"), "\(result)")
    #expect(try JSONValue(result.output)["outputs"]?["y"]?["shape"]?[0]?.number == 3)
  }
}
