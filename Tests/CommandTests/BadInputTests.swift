import TestSupport
import Testing

/// Inputs, options and devices that do not fit: one clear error with the right status, and the remedy.
@Suite struct BadInputTests {
  private func refusal(_ arguments: [String], _ status: Int32, _ parts: String...) {
    let result = Kelvin.run(arguments)
    #expect(result.status == status, "\(arguments): \(result)")
    #expect(result.errorLines.count == 1, "\(arguments): \(result.errors)")
    #expect(result.output.isEmpty, "\(arguments): \(result.output)")
    for part in parts { #expect(result.errors.contains(part), "\(arguments): \(result.errors)") }
  }

  private func predict(_ input: String, _ status: Int32, _ parts: String...) {
    let folder = TemporaryFolder()
    let arguments = ["predict", Kelvin.digits, "--input", input, "--output-dir", "\(folder.path)/out"]
    let result = Kelvin.run(arguments)
    #expect(result.status == status, "\(input): \(result)")
    #expect(result.errorLines.count == 1, "\(input): \(result.errors)")
    for part in parts { #expect(result.errors.contains(part), "\(input): \(result.errors)") }
    #expect(TemporaryFolder.entries("\(folder.path)/out") == nil, "something was written")
  }

  @Test func wrongUsageExitsWithStatus64() {
    refusal(["frobnicate"], 64, "frobnicate")
    refusal(["plan"], 64, "--problem")
    refusal(["plan", Kelvin.digits, "--precision", "extreme"], 64, "automatic, full, low")
    #expect(Kelvin.run(["plan", Kelvin.digits, "--precision", "high"]).status == 0)
    refusal(["plan", Kelvin.digits, "--tuning", "loud"], 64, "automatic, exhaustive, off")
    refusal(["plan", Kelvin.digits, "--threads", "0"], 64, "1 to 1024")
    refusal(["plan", Kelvin.digits, "--units", ","], 64, "cpu-only")
    refusal(["plan", Kelvin.digits, "--goal", "fame"], 64, "latency")
    refusal(["plan", Kelvin.digits, "--shape", "image=axb"], 64, "image=axb")
    refusal(["plan", Kelvin.digits, "--pin", "nothing"], 64, "NODE=DEVICE")
    refusal(["plan", Kelvin.digits, "--pin", "no such node=cpu"], 64, "no such node")
    refusal(["plan", Kelvin.digits, "--function", "other"], 64, "other")
    refusal(["plan", Kelvin.digits, "--no-cache", "--cache-dir", "/tmp"], 64, "--cache-dir")
    refusal(["classify", Kelvin.digits], 64)
    refusal(["classify", Kelvin.digits, Kelvin.image("0_0030.png"), "--top", "0"], 64, "--top")
    refusal(["classify", Kelvin.digits, Kelvin.image("0_0030.png"), "--orientation", "9"], 64, "1 to 8")
    refusal(["classify", Kelvin.digits, Kelvin.image("0_0030.png"), "--normalization", "-1:1"], 64, "--normalization")
    refusal(["predict", Kelvin.digits, "--input", "image", "--output-dir", "/tmp"], 64, "NAME=NUMBER")
  }

  @Test func unknownDeviceExitsWithStatus69() {
    refusal(["plan", Kelvin.digits, "--units", "cpu,vulkan:99"], 69, "vulkan:99")
    refusal(["plan", Kelvin.digits, "--units", "toaster"], 69, "toaster", "cpu")
    refusal(["plan", Kelvin.digits, "--exclude", "toaster"], 69, "toaster")
    refusal(["classify", Kelvin.digits, Kelvin.image("0_0030.png"), "--units", "opencl:77"], 69, "opencl:77")
  }

  @Test func wrongInputNameListsTheInputs() {
    predict("photo=\(Kelvin.image("0_0030.png"))", 65, "'photo'", "'image'", "64x64 RGB image")
  }

  @Test func aMissingInputIsNamed() {
    let folder = TemporaryFolder()
    refusal(["predict", Kelvin.digits, "--output-dir", folder.path], 65, "'image'", "--input image=")
  }

  @Test func wrongShapeErrorNamesBothShapes() {
    let folder = TemporaryFolder()
    let flat = folder.write(NumPyFile.bytes(shape: [3, 64, 64], float32: { _ in 0 }), "flat.npy")
    predict("image=\(flat)", 65, "float32[3x64x64]", "numpy.expand_dims")
    let small = folder.write(NumPyFile.bytes(shape: [1, 3, 8, 8], float32: { _ in 0 }), "small.npy")
    predict("image=\(small)", 65, "float32[1x3x8x8]", "64x64")
    refusal(["plan", Kelvin.digits, "--shape", "photo=1x3x64x64"], 65, "photo")
  }

  @Test func lossyElementConversionIsRefused() {
    let folder = TemporaryFolder()
    let model = folder.write(ONNXFile.model(weightShape: [2, 2], weights: [1, 2, 3, 4]), "model.onnx")
    func run(_ array: [UInt8]) -> ToolResult {
      Kelvin.run("predict", model, "--input", "x=\(folder.write(array, "x.npy"))", "--output-dir", folder.path)
    }
    let whole = run(NumPyFile.bytes(shape: [1, 2], int64: { Int64($0 + 1) }))
    #expect(whole.status == 0, "\(whole)")
    let lossy = run(NumPyFile.bytes(shape: [1, 2], int64: { _ in 16_777_217 }))
    #expect(lossy.status == 65)
    #expect(lossy.errors.contains("int64[1x2]") && lossy.errors.contains("float32"), "\(lossy)")
  }

  @Test func brokenArraysAndImagesAreRefused() {
    let folder = TemporaryFolder()
    let array = NumPyFile.bytes(shape: [1, 3, 64, 64], float32: { _ in 0 })
    predict("image=\(folder.write(Array(array.prefix(9)), "a.npy"))", 65, "a.npy")
    predict("image=\(folder.write(Array(array.prefix(1000)), "b.npy"))", 65, "b.npy")
    predict("image=\(folder.write([], "c.npy"))", 65, "c.npy")
    predict("image=/nowhere/d.npy", 65, "/nowhere/d.npy")
    predict("image=/nowhere/e.png", 65, "/nowhere/e.png")
    predict("image=\(folder.write("no image", "f.png"))", 65, "f.png")
    let image = TemporaryFolder.read(Kelvin.image("0_0030.png"))
    predict("image=\(folder.write(Array(image.prefix(image.count / 2)), "g.png"))", 65, "g.png")
    predict("image=3", 65)
  }

  @Test func unreadableImagesDoNotStopTheOthers() throws {
    let folder = TemporaryFolder()
    let good = Kelvin.image("0_0030.png")
    let bad = folder.write("no image", "bad.jpg")
    let result = Kelvin.run("classify", Kelvin.digits, good, bad, "/nowhere.png", good, "--top", "1", "--json")
    #expect(result.status == 65, "\(result)")
    #expect(result.errorLines.count == 2)
    let answers = try #require(try JSONValue(result.output).array)
    #expect(answers.map { $0["image"]?.text } == [good, bad, "/nowhere.png", good])
    #expect(answers.map { $0["observations"]?.array?.count } == [1, 0, 0, 1])
    #expect(answers.map { $0["error"] != nil } == [false, true, true, false])
  }

  @Test func labelCountMustMatchTheClassCount() throws {
    let folder = TemporaryFolder()
    let names = (0..<10).map { "digit \($0)" }
    let image = Kelvin.image("4_0041.png")
    let fitting = folder.write(names.joined(separator: "\r\n") + "\n\n", "labels.txt")
    let result = Kelvin.run("classify", Kelvin.digits, image, "--labels", fitting, "--json")
    #expect(try JSONValue(result.output)[0]?["observations"]?[0]?["identifier"]?.text == "digit 4")
    let short = folder.write("one\ntwo\n", "short.txt")
    refusal(["classify", Kelvin.digits, image, "--labels", short], 65, "2 labels", "10 classes")
    refusal(["classify", Kelvin.digits, image, "--labels", "/nowhere/labels.txt"], 65, "/nowhere/labels.txt")
    refusal(["classify", Kelvin.digits, image, "--labels", folder.write("", "none.txt")], 65, "none.txt")
  }

  @Test func classifyRefusesModelWithoutImageInput() {
    let folder = TemporaryFolder()
    let model = folder.write(ONNXFile.model(weightShape: [2, 2], weights: [1, 2, 3, 4]), "model.onnx")
    refusal(["classify", model, Kelvin.image("0_0030.png")], 65, "takes no image", "'x'")
  }

  @Test func brokenPlansAndProfilesAreRefused() {
    let folder = TemporaryFolder()
    for (option, text) in [("--plan", "{"), ("--plan", "[]"), ("--profile", "{}"), ("--profile", "")] {
      let file = folder.write(text, "file.json")
      let result = Kelvin.run("plan", Kelvin.digits, option, file)
      #expect(result.status == 65, "\(option) \(text): \(result)")
      #expect(result.errors.contains("file.json"), "\(option) \(text): \(result)")
    }
    refusal(["plan", Kelvin.digits, "--plan", "/nowhere/plan.json"], 65, "/nowhere/plan.json")
  }

  @Test func excludedCPUIsReportedWithAndWithoutStrict() {
    for strict in [[], ["--strict"]] {
      refusal(
        ["plan", Kelvin.digits, "--exclude", "cpu", "--units", "cpu"] + strict, 65, "remove the exclusion of cpu")
    }
  }

  @Test(.boundsFiles)
  func unwritableOutputIsAnError() {
    let folder = TemporaryFolder()
    let input = "image=\(Kelvin.image("0_0030.png"))"
    let file = folder.write("in the way", "file")
    refusal(["predict", Kelvin.digits, "--input", input, "--output-dir", "\(file)/out"], 65, "file")
    let full = Kelvin.run(
      ["predict", Kelvin.digits, "--input", input, "--output-dir", "\(folder.path)/full"], shell: "ulimit -f 0")
    #expect(full.status == 70, "\(full)")
    #expect(full.errors.contains("probabilities.npy"), "\(full)")
    #expect(TemporaryFolder.entries("\(folder.path)/full") == [], "half a file was left")
  }
}
