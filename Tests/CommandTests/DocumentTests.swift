import TestSupport
import Testing

/// The JSON documents that other programs rely on.
@Suite struct DocumentTests {
  private func document(_ arguments: [String]) throws -> JSONValue {
    let result = Kelvin.run(arguments + ["--json"])
    #expect(result.status == 0, "\(result)")
    return try JSONValue(result.output)
  }

  @Test func devicesListsNamesAndAvailability() throws {
    let devices = try #require(try document(["devices"]).array)
    #expect(devices.contains { $0["id"]?.text == "cpu" && $0["available"]?.bool == true })
    for device in devices {
      for key in ["id", "name", "kind", "driver", "version", "reason"] { #expect(device[key]?.text != nil, "\(key)") }
      #expect((device["memory"]?.number ?? -1) >= 0)
      #expect(device["available"] == .bool(device["reason"]?.text == ""))
    }
  }

  @Test func inspectListsFeaturesLabelsAndOperations() throws {
    let model = try document(["inspect", Kelvin.digits])
    #expect(model["format"]?.text == "ONNX")
    let function = try #require(model["functions"]?[0])
    #expect(function["labels"]?.number == 10)
    #expect(function["inputs"]?[0]?["name"]?.text == "image")
    #expect(function["inputs"]?[0]?["type"]?.text == "64x64 RGB image")
    #expect(function["operations"]?["Conv"]?.number == 25)
    #expect((function["weightBytes"]?.number ?? 0) > 250_000)
    #expect(function["missing"]?.array?.isEmpty == true)
  }

  @Test func classifyKeepsTheOrderOfItsImages() throws {
    let images = ["9_0125.png", "0_0030.png", "3_0103.jpg"].map(Kelvin.image)
    let results = try #require(try document(["classify", Kelvin.digits] + images + ["--top", "3"]).array)
    #expect(results.map { $0["image"]?.text } == images)
    #expect(results.map { $0["observations"]?[0]?["identifier"]?.text } == ["nine", "zero", "three"])
    for result in results {
      let confidences = try #require(result["observations"]?.array).compactMap { $0["confidence"]?.number }
      #expect(confidences.count == 3)
      #expect(confidences == confidences.sorted(by: >))
      #expect(confidences.allSatisfy { (0...1).contains($0) })
    }
  }

  @Test func digitLabelsMatchAnIndependentRuntime() throws {
    let expected = try JSONValue(
      String(decoding: TemporaryFolder.read("\(Kelvin.root)/Examples/Digits/expected.json"), as: UTF8.self))
    let images = try #require(expected["images"]?.array)
    let paths = images.compactMap { $0["file"]?.text }.map(Kelvin.image)
    let results = try #require(try document(["classify", Kelvin.digits, "--top", "1"] + paths).array)
    #expect(results.count == images.count)
    for (image, result) in zip(images, results) {
      let best = result["observations"]?[0]
      #expect(best?["identifier"] == image["label"], "\(image["file"]?.text ?? "")")
      let difference = (best?["confidence"]?.number ?? -1) - (image["probability"]?.number ?? 0)
      // The expected numbers come from another JPEG decoder and another resampler.
      #expect(abs(difference) < 0.04, "\(image["file"]?.text ?? "")")
    }
  }

  @Test func predictGeneratesMissingInputsOnlyWithASeed() throws {
    let folder = TemporaryFolder()
    func run(_ name: String, _ options: String...) -> ToolResult {
      Kelvin.run(["predict", Kelvin.digits, "--output-dir", "\(folder.path)/\(name)"] + options)
    }
    #expect(run("none").status == 65)
    for (name, seed) in [("one", "7"), ("same", "7"), ("other", "8")] {
      let result = run(name, "--seed", seed)
      #expect(result.status == 0, "\(result)")
      #expect(result.errors.contains("input 'image' is made up"), "\(result)")
    }
    func probabilities(_ name: String) -> [UInt8] { TemporaryFolder.read("\(folder.path)/\(name)/probabilities.npy") }
    #expect(probabilities("one") == probabilities("same"))
    #expect(probabilities("one") != probabilities("other"))
    // Given inputs are kept.
    let given = run("given", "--seed", "7", "--input", "image=\(Kelvin.image("7_0043.png"))")
    #expect(given.status == 0, "\(given)")
    #expect(!given.errors.contains("made up"), "\(given)")
    #expect(probabilities("given") != probabilities("one"))
  }

  @Test func predictListsTheFilesItWrote() throws {
    let folder = TemporaryFolder()
    let input = "image=\(Kelvin.image("7_0043.png"))"
    let target = "\(folder.path)/new/outputs"
    let report = try document(["predict", Kelvin.digits, "--input", input, "--output-dir", target])
    #expect((report["seconds"]?.number ?? 0) > 0)
    let outputs = try #require(report["outputs"]?.object)
    #expect(outputs["classLabel"]?["value"]?.text == "seven")
    let tensor = try #require(outputs["probabilities"])
    #expect(tensor["shape"] == .array([.number(1), .number(10)]))
    #expect(tensor["type"]?.text == "float32")
    let file = try #require(tensor["file"]?.text)
    let bytes = TemporaryFolder.read(file)
    #expect(bytes.prefix(6).elementsEqual([0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59]))
    let dictionary = try #require(outputs["classLabel_probs"]?["file"]?.text)
    let probabilities = try #require(
      try JSONValue(String(decoding: TemporaryFolder.read(dictionary), as: UTF8.self)).object)
    #expect(abs(probabilities.values.compactMap(\.number).reduce(0, +) - 1) < 1e-4)
    #expect(TemporaryFolder.entries(target) == ["classLabel_probs.json", "probabilities.npy"])
  }

  @Test(.slow) func predictReportIsAPage() throws {
    let folder = TemporaryFolder()
    let page = "\(folder.path)/page.html"
    let result = Kelvin.run(
      "predict", Kelvin.digits, "--input", "image=\(Kelvin.image("7_0043.png"))", "--output-dir", "\(folder.path)/out",
      "--report", page, "--json")
    #expect(result.status == 0 && (try? JSONValue(result.output)) != nil, "\(result)")
    let html = String(decoding: TemporaryFolder.read(page), as: UTF8.self)
    #expect(html.contains("<td class=\"words\">classLabel</td>") && html.contains("one prediction took"), "\(html)")
    #expect(html.contains("<h3>classLabel_probs</h3>") && html.contains("<td class=\"words\">seven</td>"))
    guard PageTool.hasPython, PageTool.hasChromium else { return }
    let checked = try PageTool.run("dev/page.py", "check", on: TemporaryFolder.read(page), suffix: ".html")
    #expect(checked.status == 0 && checked.output.contains("\"tables\": 2"), "\(checked.output)")
  }

  @Test func float64InputGivesTheFloat32Label() throws {
    let folder = TemporaryFolder()
    let array = folder.write(NumPyFile.bytes(shape: [1, 3, 64, 64], float64: { Double($0 % 256) }), "input.npy")
    let first = try document(["predict", Kelvin.digits, "--input", "image=\(array)", "--output-dir", folder.path])
    let single = folder.write(NumPyFile.bytes(shape: [1, 3, 64, 64], float32: { Float($0 % 256) }), "single.npy")
    let second = try document(["predict", Kelvin.digits, "--input", "image=\(single)", "--output-dir", folder.path])
    #expect(first["outputs"]?["classLabel"] == second["outputs"]?["classLabel"])
  }

  @Test func stringArraysAreNestedListsInInputAndOutput() throws {
    let folder = TemporaryFolder()
    let model = "\(Kelvin.root)/Tests/Vectors/Texts/transposed.onnx"
    let input = #"x=[["a", "b", "größer"], ["d", "", "f"]]"#
    let report = try document(["predict", model, "--input", input, "--output-dir", folder.path, "--units", "cpu"])
    #expect(report["outputs"]?["y"]?["shape"] == .array([.number(3), .number(2)]))
    let written = String(decoding: TemporaryFolder.read("\(folder.path)/y.json"), as: UTF8.self)
    let rows = [["a", "d"], ["b", ""], ["größer", "f"]].map { JSONValue.array($0.map { JSONValue.text($0) }) }
    #expect(try JSONValue(written) == .array(rows))
    let again = try document(
      ["predict", model, "--input", "x=\(folder.path)/y.json", "--output-dir", folder.path, "--units", "cpu"])
    #expect(again["outputs"]?["y"]?["shape"] == .array([.number(2), .number(3)]))
    let ragged = Kelvin.run("predict", model, "--input", #"x=[["a", "b"], ["c"]]"#, "--output-dir", folder.path)
    #expect(ragged.status != 0 && ragged.errors.contains("'x'"), "\(ragged)")
  }

  @Test func overridableConstantsAreListedAndAccepted() throws {
    let folder = TemporaryFolder()
    let model = "\(Kelvin.root)/Tests/Vectors/Overrides/affine.onnx"
    let inspection = try document(["inspect", model])
    let function = inspection["functions"]?[0]
    #expect(function?["inputs"]?.array?.count == 1)
    #expect(function?["overridable"]?.array?.compactMap { $0["name"]?.text }.sorted() == ["offset", "scale", "unused"])
    #expect(Kelvin.run("inspect", model).output.contains("overridable   "))
    let x = folder.write(NumPyFile.bytes(shape: [1, 3], float32: { Float($0 + 1) }), "x.npy")
    let zeros = folder.write(NumPyFile.bytes(shape: [3], float32: { _ in 0 }), "zeros.npy")
    let inputs = ["--input", "x=\(x)", "--input", "scale=\(zeros)", "--input", "offset=\(zeros)"]
    _ = try document(["predict", model] + inputs + ["--output-dir", folder.path, "--units", "cpu"])
    #expect(TemporaryFolder.read("\(folder.path)/y.npy").suffix(12).allSatisfy { $0 == 0 })
  }

  @Test func planHasARecordForEveryNode() throws {
    let plan = try document(["plan", Kelvin.digits, "--units", "cpu,reference"])
    #expect(plan["units"]?.text == "cpu,reference")
    #expect(plan["goal"]?.text == "latency")
    #expect(plan["bestSingleDevice"]?["device"]?.text == "cpu")
    let nodes = try #require(plan["nodes"]?.array)
    #expect(nodes.count > 20)
    var total = 0.0
    for node in nodes {
      for key in ["name", "op", "device", "reason"] { #expect(node[key]?.text?.isEmpty == false, "\(key)") }
      #expect((node["regret"]?.number ?? -1) >= 0)
      let shares = try #require(node["origins"]?.array).compactMap { $0["share"]?.number }
      #expect(abs(shares.reduce(0, +) - 1) < 1e-9)
      let candidates = try #require(node["candidates"]?.array)
      #expect(candidates.allSatisfy { $0["seconds"]?.number != nil || $0["unsupported"]?.text != nil })
      let chosen = try #require(candidates.first { $0["device"] == node["device"] })
      #expect(["measured", "estimated"].contains(chosen["source"]?.text ?? ""))
      total += chosen["seconds"]?.number ?? .nan
      total += try #require(node["transfers"]?.array).reduce(0) { $0 + ($1["seconds"]?.number ?? .nan) }
    }
    #expect(abs(total - (plan["predicted"]?.number ?? 0)) < 1e-9)
  }

  @Test func predictedTimesHaveTheirErrorsInTextDocumentAndPage() throws {
    let folder = TemporaryFolder()
    let arguments = ["plan", Kelvin.digits, "--units", "cpu,reference"]
    let plan = try document(arguments)
    let error = try #require(plan["predictionError"])
    let mark = error["share"]?.number.map { "± \(Double(Int(($0 * 1000).rounded())) / 10) %" } ?? "± unknown"
    #expect(error["basis"]?.text?.isEmpty == false)
    for single in try #require(plan["singleDevices"]?.array) {
      #expect(single["predictionError"]?["basis"]?.text?.isEmpty == false)
    }
    let text = Kelvin.run(arguments + ["--report", "\(folder.path)/plan.html"]).output
    let lines = text.split(separator: "\n")
    for title in ["predicted ", "best single device ", "each device alone "] {
      let line = try #require(lines.first { $0.hasPrefix(title) }, "\(text)")
      #expect(line.contains(title == "each device alone " ? " ± " : " \(mark)"), "\(line)")
    }
    let page = String(decoding: TemporaryFolder.read("\(folder.path)/plan.html"), as: UTF8.self)
    #expect(page.contains(" \(mark) for one warm prediction, predicted"))
  }

  @Test func sumOfAOneShotPlanIsToldFromTheTimeOfOneInference() throws {
    let text = Kelvin.run("plan", Kelvin.digits, "--units", "cpu,reference", "--goal", "one-shot").output
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(
      words.contains(" in all, one inference ") && words.contains(" for start and the first inference"), "\(text)")
    let single = try #require(text.split(separator: "\n").first { $0.hasPrefix("best single device ") })
    #expect(single.contains(" in all"), "\(single)")
  }

  @Test func planFitsATerminalOfEightyColumnsWhateverThePath() {
    let folder = TemporaryFolder()
    let path = String(repeating: "a-long-folder-name/", count: 6) + "Digits.onnx"
    let model = folder.write(TemporaryFolder.read(Kelvin.digits), path)
    for options in [[], ["--goal", "one-shot"], ["--goal", "throughput", "--verbose"]] {
      let text = Kelvin.run(["plan", model, "--units", "cpu,reference"] + options).output
      #expect(text.contains("NODE"), "\(text)")
      #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
    }
  }

  @Test func savedPlanOfOneDeviceKeepsItsReasons() throws {
    let folder = TemporaryFolder()
    let file = "\(folder.path)/plan.json"
    let first = try document(["plan", Kelvin.digits, "--units", "cpu,reference", "--save", file, "--no-trial"])
    let second = try document(["plan", Kelvin.digits, "--units", "cpu,reference", "--plan", file])
    let reasons = [first, second].map { $0["nodes"]?.array?.compactMap { $0["reason"]?.text } }
    #expect(reasons[0]?.isEmpty == false && reasons[0] == reasons[1])
  }

  @Test func foldedOperationsAreListedWithTheReason() throws {
    let folder = TemporaryFolder()
    let model = folder.write(
      ONNXFile.model(weightShape: [2, 2], weights: [1, 2, 3, 4], operators: ["Identity", "Relu"]), "model.onnx")
    let plan = try document(["plan", model])
    let folded = try #require(plan["foldedAway"]?.array)
    #expect(folded.map { $0["op"]?.text } == ["Identity"])
    #expect(folded.allSatisfy { $0["reason"]?.text?.isEmpty == false })
  }

  @Test func modelOfHostOperationsHasNothingToPlace() throws {
    let model = "\(Kelvin.root)/Tests/Vectors/Classical/forest.mlmodel"
    let text = Kelvin.run("plan", model, "--units", "cpu-only").output
    #expect(text.contains("Nothing to place: host operations compute all that remains, 2 operations"), "\(text)")
    #expect(!text.contains("predicted") && !text.contains("folded away"), "\(text)")
    let steps = try #require(try document(["plan", model, "--units", "cpu-only"])["foldedAway"]?.array)
    #expect(steps.count == 2 && steps.allSatisfy { $0["isOnHost"]?.bool == true })
  }

  @Test func pinnedNodeRunsOnItsDeviceWithItsCopiesListed() throws {
    let free = try document(["plan", Kelvin.digits, "--units", "cpu,reference"])
    let names = try #require(free["nodes"]?.array).compactMap { $0["name"]?.text }
    let node = names[names.count / 2]
    let plan = try document(["plan", Kelvin.digits, "--units", "cpu", "--pin", "\(node)=reference"])
    let record = try #require(plan["nodes"]?.array?.first { $0["name"]?.text == node })
    #expect(record["device"]?.text == "reference")
    #expect(record["reason"]?.text == "pinned")
    #expect(record["transfers"]?.array?.contains { $0["to"]?.text == "reference" } == true)
  }

  @Test func savedPlanIsAdopted() throws {
    let folder = TemporaryFolder()
    let file = "\(folder.path)/plan.json"
    let saved = try document(["plan", Kelvin.digits, "--units", "reference", "--save", file])
    let adopted = try document(["plan", Kelvin.digits, "--units", "cpu,reference", "--plan", file])
    #expect(saved["nodes"]?.array?.map { $0["device"] } == adopted["nodes"]?.array?.map { $0["device"] })
    #expect(adopted["nodes"]?.array?.allSatisfy { $0["device"]?.text == "reference" } == true)
    let other = folder.copy(Kelvin.digits, as: "other.onnx")
    folder.write(TemporaryFolder.read(other) + [0x72, 0x00], "other.onnx")
    let refused = Kelvin.run(["plan", other, "--plan", file, "--json", "--cache-dir", "\(folder.path)/cache"])
    #expect(refused.status == 65, "\(refused)")
  }

  @Test(.slow) func benchComparesEveryConfiguration() throws {
    let report = try document(
      ["bench", Kelvin.digits, "--workload", "one-shot", "--units", "cpu", "--units", "reference", "--no-cache"])
    for key in ["machine", "model", "workload", "verdict"] { #expect(report[key] != nil, "\(key)") }
    let configurations = try #require(report["configurations"]?.array)
    #expect(configurations.map { $0["units"]?.text } == ["cpu", "reference"])
    for configuration in configurations {
      for key in ["load", "compile", "first", "p50", "p90", "p99", "throughput"] {
        #expect((configuration[key]?.number ?? -1) > 0, "\(key)")
      }
    }
  }

  @Test func profileMeasuresAndLaterPlansUseIt() throws {
    let folder = TemporaryFolder()
    let file = "\(folder.path)/profile.json"
    let profile = try document(
      ["profile", Kelvin.digits, "--units", "cpu", "--budget", "0.3", "--save", file, "--no-cache"])
    #expect((profile["nodes"]?.array?.count ?? profile["nodes"]?.object?.count ?? 0) > 20)
    let plan = try document(["plan", Kelvin.digits, "--units", "cpu", "--profile", file, "--no-cache"])
    let sources = try #require(plan["nodes"]?.array).map { $0["candidates"]?[0]?["source"]?.text }
    #expect(sources.allSatisfy { $0 == "measured" })
  }

  @Test func bothModelFormatsGiveTheSameLabels() throws {
    let images = ["1_0011.png", "5_0109.jpg", "8_0242.png"].map(Kelvin.image)
    let package = try #require(try document(["classify", Kelvin.digitsPackage] + images).array)
    let file = try #require(try document(["classify", Kelvin.digits] + images).array)
    for (one, other) in zip(package, file) {
      #expect(one["observations"]?[0]?["identifier"] == other["observations"]?[0]?["identifier"])
      let difference =
        (one["observations"]?[0]?["confidence"]?.number ?? 2) - (other["observations"]?[0]?["confidence"]?.number ?? 0)
      #expect(abs(difference) < 0.02)
    }
  }

  @Test(.slow) func operatorsListsTheSupportOfEachDevice() throws {
    let rows = try #require(try document(["operators"]).array)
    let convolution = try #require(rows.first { $0["operator"]?.text == "convolution" })
    #expect(convolution["devices"]?["reference"]?["status"]?.text == "supported")
    #expect((convolution["devices"]?["cpu"]?["cases"]?.number ?? 0) > 3)
  }
}
