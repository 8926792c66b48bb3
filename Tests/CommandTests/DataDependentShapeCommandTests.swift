import TestSupport
import Testing

/// Plans and profiles of models whose sizes depend on data: every graph, the later ones at the sizes of a sample run.
@Suite struct DataDependentShapeCommandTests {
  private static let picked = "\(Kelvin.root)/Tests/Vectors/DataSizes/picked.onnx"
  private static let given = "\(Kelvin.root)/Tests/Vectors/DataSizes/given.onnx"

  private func document(_ arguments: [String]) throws -> JSONValue {
    let result = Kelvin.run(arguments + ["--json"])
    #expect(result.status == 0, "\(result)")
    return try JSONValue(result.output)
  }

  /// Twelve numbers with the given number of positive ones.
  private func input(_ positive: Int, _ folder: TemporaryFolder) -> String {
    "x=" + folder.write(NumPyFile.bytes(shape: [3, 4], float32: { $0 < positive ? 1 : -1 }), "x\(positive).npy")
  }

  private func part(_ document: JSONValue, _ index: Int) throws -> JSONValue {
    try #require(document["parts"]?[index], "\(document)")
  }

  @Test func planShowsLaterGraphAtItsInputSizes() throws {
    let folder = TemporaryFolder()
    for positive in [3, 7] {
      let plan = try document(["plan", Self.picked, "--input", input(positive, folder)])
      #expect(plan["parts"]?.array?.map { $0["name"]?.text } == ["main.1", "main.2"])
      #expect(try part(plan, 0)["sampledSizes"] == nil, "its sizes are known beforehand")
      let sizes = try #require(try part(plan, 1)["sampledSizes"]?.object)
      #expect(sizes["at"]?.array?.compactMap(\.number) == [2, Double(positive)])
      #expect(try part(plan, 1)["holdsUpTo"]?["at"]?.array?.compactMap(\.number) == [2, positive == 3 ? 4 : 8])
      let nodes = try #require(plan["nodes"]?.array)
      #expect(Set(nodes.compactMap { $0["part"]?.text }) == ["main.1", "main.2"])
      let seconds = nodes.map { node in
        node["candidates"]?.array?.first { $0["device"] == node["device"] }?["seconds"]?.number ?? .nan
      }
      let copies = nodes.flatMap { $0["transfers"]?.array ?? [] }.map { $0["seconds"]?.number ?? .nan }
      #expect(abs((seconds + copies).reduce(0, +) - (plan["predicted"]?.number ?? .nan)) < 1e-12)
    }
    let text = Kelvin.run(["plan", Self.picked, "--input", input(5, folder)])
    #expect(text.output.contains("Graph 'main.2'") && text.output.contains("at 2x5"), "\(text.output)")
    #expect(text.output.contains("up to at 2x8"), "\(text.output)")
    #expect(text.errors.contains("sample run"), "\(text)")
  }

  @Test func planListsGraphsThatNoSampleRunReached() throws {
    // Made-up numbers are not a valid shape of its other input.
    let model = "\(Kelvin.root)/Tests/Vectors/DataSizes/Unsampled/reshaped.onnx"
    let result = Kelvin.run("plan", model, "--units", "cpu-only", "--no-cache", "--verbose")
    #expect(result.errors.contains("it is left out (--input gives a run its inputs)"), "\(result)")
    #expect(
      result.output.contains("Nothing to place: no sample run reached its graphs, 2 operations"), "\(result.output)")
    #expect(result.output.contains("no sample run reached it"), "\(result.output)")
  }

  @Test func sampleInputsAreGeneratedAndReported() throws {
    let result = Kelvin.run(["plan", Self.picked, "--seed", "3", "--json"])
    #expect(result.errors.contains("'x' made up (seed 3)"), "\(result)")
    let plan = try JSONValue(result.output)
    #expect(try part(plan, 1)["sampledSizes"]?["at"]?[0]?.number == 2)
    let one = Kelvin.run(["plan", Self.picked, "--seed", "3", "--part", "main.2", "--json"])
    #expect(one.status == 0, "\(one)")
    let only = try JSONValue(one.output)
    #expect(
      only["parts"]?.array?.count == 1 && only["nodes"]?.array?.allSatisfy { $0["part"]?.text == "main.2" } == true)
  }

  @Test func failedSampleOfGivenInputsIsAnError() throws {
    // A made-up shape of ones does not fit twelve elements.
    let made = Kelvin.run(["plan", Self.given, "--json"])
    #expect(made.status == 0 && made.errors.contains("it is left out"), "\(made)")
    let folder = TemporaryFolder()
    func inputs(_ shape: [Int64]) -> [String] {
      [
        "x=" + folder.write(NumPyFile.bytes(shape: [12], float32: { Float($0) }), "x.npy"), "trips=2",
        "shape=" + folder.write(NumPyFile.bytes(shape: [2], int64: { shape[$0] }), "shape.npy"),
        "start=" + folder.write(NumPyFile.bytes(shape: [2], float32: { Float($0) }), "start.npy"),
      ].flatMap { ["--input", $0] }
    }
    let plan = try document(["plan", Self.given] + inputs([3, 4]))
    #expect(try part(plan, 0)["sampledValues"]?["shape"]?.array?.compactMap(\.number) == [3, 4])
    let refused = Kelvin.run(["plan", Self.given] + inputs([5, 4]))
    #expect(refused.status == 65 && refused.errors.contains("Reshape"), "\(refused)")
  }

  @Test func aSavedPlanHasEveryGraphAndIsAdopted() throws {
    let folder = TemporaryFolder()
    let (file, x) = ("\(folder.path)/plan.json", input(5, folder))
    let saved = try document(
      ["plan", Self.picked, "--units", "reference", "--input", x, "--save", file, "--no-trial"])
    let adopted = try document(["plan", Self.picked, "--units", "cpu,reference", "--input", x, "--plan", file])
    #expect(saved["nodes"]?.array?.map { $0["device"] } == adopted["nodes"]?.array?.map { $0["device"] })
    #expect(adopted["nodes"]?.array?.contains { $0["part"]?.text == "main.2" } == true)
    #expect(adopted["nodes"]?.array?.allSatisfy { $0["device"]?.text == "reference" } == true)
    for positive in [6, 12] {
      let output = "\(folder.path)/out\(positive)"
      let result = Kelvin.run(
        ["predict", Self.picked, "--input", input(positive, folder), "--plan", file, "--output-dir", output, "--json"])
      #expect(result.status == 0, "\(result)")
      #expect(try JSONValue(result.output)["outputs"]?["y"]?["shape"]?[0]?.number == Double(positive))
    }
    let foreign = Kelvin.run(["plan", "\(Kelvin.root)/Tests/Vectors/DataSizes/places.onnx", "--plan", file])
    #expect(foreign.status == 65, "\(foreign)")
  }

  @Test func aProfileMeasuresEveryGraph() throws {
    let folder = TemporaryFolder()
    let file = "\(folder.path)/profile.json"
    let x = input(5, folder)
    let profile = try document(
      ["profile", Self.picked, "--units", "cpu", "--budget", "0.2", "--input", x, "--save", file])
    let documents = [profile] + (profile["parts"]?.array ?? [])
    #expect(Set(documents.compactMap { $0["part"]?.text }) == ["main.1", "main.2"])
    for document in documents {
      #expect(document["nodes"]?.array?.isEmpty == false)
      let sizes = document["sampledSizes"]?["at"]?.array?.compactMap(\.number)
      #expect(sizes == (document["part"]?.text == "main.2" ? [2, 5] : nil))
    }
    let plan = try document(["plan", Self.picked, "--units", "cpu", "--input", x, "--profile", file])
    let sources = try #require(plan["nodes"]?.array).map { $0["candidates"]?[0]?["source"]?.text }
    #expect(sources.allSatisfy { $0 == "measured" }, "\(sources)")
    let text = Kelvin.run(["profile", Self.picked, "--units", "cpu", "--budget", "0.2", "--input", x])
    #expect(text.output.contains("graph 'main.2' at the sizes of a sample run (at 2x5"), "\(text.output)")
  }

  @Test func planStatesTheLargestSizesItCovers() throws {
    let folder = TemporaryFolder()
    let model = folder.write(ONNXFile.flexible(), "model.onnx")
    func held(_ more: String...) throws -> [Double]? {
      try document(["plan", model, "--shape", "x=5x3"] + more)["holdsUpTo"]?["x"]?.array?.compactMap(\.number)
    }
    #expect(try held() == [8, 3])
    #expect(try held("--plan-every-size") == nil)
    #expect(try held("--deterministic") == nil)
    let text = Kelvin.run(["plan", model, "--shape", "x=5x3"])
    #expect(text.output.contains("up to x 8x3"), "\(text.output)")
    #expect(try document(["plan", Kelvin.digits])["holdsUpTo"] == nil, "its sizes cannot vary")
  }
}
