import Glibc
import KelvinBasics
import KelvinImages
import KelvinIsolation
import TestSupport
import Testing

/// Workers that decode images. The program `kelvin` is beside the test runner.
@Suite(.enabled(if: decoderMissing == nil, "libvips is not installed"), .runsWorkers)
struct IsolationTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Images/files"
  private static let files = (TemporaryFolder.entries(folder) ?? []).filter { !$0.hasSuffix(".ppm") }

  /// Returns the decoded image, or the error.
  private static func outcome(_ decode: () throws(ImageError) -> DecodedImage) -> Result<DecodedImage, ImageError> {
    Result { () throws(ImageError) in try decode() }
  }

  private static func limits(_ change: (inout WorkerLimits) -> Void) -> WorkerLimits {
    var limits = WorkerLimits()
    change(&limits)
    return limits
  }

  /// Asks a worker to fail.
  private static func fault(_ kind: String, _ pool: WorkerPool) throws(WorkerFailure) {
    try pool.run(WorkerMessage(["fault", kind])) { _ throws(WorkerFailure) in .result(()) }
  }

  @Test func everyFormatDecodesToTheSameImage() throws {
    #expect(Self.files.count > 30)
    let pool = WorkerPool()
    for name in Self.files {
      let path = "\(Self.folder)/\(name)"
      let expected = Self.outcome { () throws(ImageError) in try ImageCodec.decode(path: path) }
      let file = try OpenFile(path)
      #expect(Self.outcome { () throws(ImageError) in try ImageCodec.decode(file, in: pool) } == expected, "\(name)")
    }
    #expect(pool.idleProcesses.count == 1)
  }

  @Test func optionsAndErrorsArriveFromTheWorker() throws {
    let (folder, pool) = (TemporaryFolder(), WorkerPool())
    let file = try OpenFile("\(Self.folder)/baseline.jpg")
    #expect(try ImageCodec.decode(file, in: pool, orientation: .left).orientation == .left)
    #expect(throws: ImageError.self) { try ImageCodec.decode(file, in: pool, maximumPixels: 4) }
    for (name, bytes) in [("empty", []), ("odd", Array("not an image".utf8)), ("cut.png", [0x89, 0x50, 0x4e, 0x47])] {
      let path = folder.write(bytes, name)
      let expected = Self.outcome { () throws(ImageError) in try ImageCodec.decode(path: path) }
      let odd = try OpenFile(path)
      #expect(Self.outcome { () throws(ImageError) in try ImageCodec.decode(odd, in: pool) } == expected)
    }
    #expect(pool.idleProcesses.count == 1)
  }

  @Test func forbiddenCallsAreRefused() throws {
    let errors = try WorkerPool().run(WorkerMessage(["refusals"])) { (message) throws(WorkerFailure) in
      .result(message.fields)
    }
    // open, socket, execve, fork, executable memory, ptrace and kill.
    #expect(errors == ["refusals"] + [String](repeating: "\(EPERM)", count: 7))
  }

  @Test func killedWorkerIsReplaced() throws {
    let pool = WorkerPool()
    let file = try OpenFile("\(Self.folder)/color.bmp")
    let image = try ImageCodec.decode(file, in: pool)
    let killed = try #require(pool.idleProcesses.first)
    kill(killed, SIGKILL)
    #expect(try ImageCodec.decode(file, in: pool) == image)
    #expect(pool.idleProcesses.count == 1 && pool.idleProcesses != [killed])
  }

  @Test func crashNamesTheSignal() throws {
    let pool = WorkerPool()
    let failure = #expect(throws: WorkerFailure.self) { try Self.fault("crash", pool) }
    #expect(failure?.kind == .crashed && failure?.reason.contains("Aborted") == true, "\(String(describing: failure))")
    #expect(pool.idleProcesses.isEmpty)
    _ = try ImageCodec.decode(try OpenFile("\(Self.folder)/color.bmp"), in: pool)
  }

  @Test(.boundsAddresses) func memoryLimitEndsTheWorker() throws {
    let pool = WorkerPool(Self.limits { $0.memoryBytes = 200 << 20 })
    let failure = #expect(throws: WorkerFailure.self) { try Self.fault("memory", pool) }
    #expect(failure?.kind == .limit && failure?.reason.contains("200 MiB") == true, "\(String(describing: failure))")
    _ = try ImageCodec.decode(try OpenFile("\(Self.folder)/color.bmp"), in: pool)
  }

  @Test(.boundsAddresses) func imageLargerThanTheMemoryGivesAnErrorWithItsName() throws {
    let folder = TemporaryFolder()
    let path = folder.write(try ImageCodec.encode(try gradient(4096, 2048)), "large.png")
    let pool = WorkerPool(Self.limits { $0.memoryBytes = 1 << 20 })
    let error = #expect(throws: ImageError.self) { try ImageCodec.decode(try OpenFile(path), in: pool) }
    #expect(error?.description.contains(path) == true)
  }

  @Test func timeLimitEndsTheWorker() throws {
    let pool = WorkerPool(Self.limits { $0.seconds = 1 })
    let failure = #expect(throws: WorkerFailure.self) { try Self.fault("time", pool) }
    #expect(failure?.kind == .limit && failure?.reason.contains("1 second") == true, "\(String(describing: failure))")
    #expect(pool.idleProcesses.isEmpty)
  }

  @Test(arguments: ["/nonexistent/kelvin", "/bin/true"]) func otherProgramIsRefusedWithRemedy(program: String) async {
    await #expect(processExitsWith: .success) { [program] in
      setenv("KELVIN_PROGRAM", program, 1)
      Isolation.standard = .worker
      let error = #expect(throws: ImageError.self) {
        try ImageCodec.decode(path: "\(Self.folder)/color.bmp")
      }
      #expect(error?.code == .decoderMissing && error?.reason.contains(program) == true && error?.remedy != nil)
    }
  }

  /// A program that reports that it cannot restrict itself.
  @Test func unrestrictedWorkerIsRefused() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      let program = folder.writeWorker(answers: ["failed\\000seccomp: not implemented\\000use another kernel"])
      setenv("KELVIN_PROGRAM", program, 1)
      let file = try OpenFile("\(Self.folder)/color.bmp")
      let error = #expect(throws: ImageError.self) { try ImageCodec.decode(file, in: WorkerPool()) }
      #expect(error?.code == .decoderMissing && error?.reason == "seccomp: not implemented")
      #expect(error?.remedy == "use another kernel")
    }
  }

  /// Answers of a worker that an image controls.
  @Test(arguments: [
    "done", "file", "pixels", "pixels\\0001\\000x\\0001", "pixels\\000-1\\000-1\\0001", "pixels\\0000\\0001\\0001",
    "pixels\\0001000000\\0001000000\\0001", "pixels\\0009223372036854775807\\0009223372036854775807\\0001",
    "pixels\\0001\\0001\\0009",
  ])
  func hostileAnswerIsAnError(answer: String) async {
    await #expect(processExitsWith: .success) { [answer] in
      let folder = TemporaryFolder()
      setenv("KELVIN_PROGRAM", folder.writeWorker(answers: ["ready\\0001", answer]), 1)
      let file = try OpenFile("\(Self.folder)/color.bmp")
      let pool = WorkerPool()
      let error = #expect(throws: ImageError.self) { try ImageCodec.decode(file, in: pool) }
      #expect(error?.code == .corrupt && error?.reason.contains("answer is invalid") == true)
      #expect(pool.idleProcesses.isEmpty)
    }
  }

  @Test func manyRequestsLeaveNoDescriptorsAndProcesses() async {
    await #expect(processExitsWith: .success) {
      Isolation.standard = .worker
      let bytes = TemporaryFolder.read("\(Self.folder)/color.bmp")
      let first = try ImageCodec.decode(path: "\(Self.folder)/color.bmp")
      let before = OwnProcess().descriptorCount
      for _ in 0..<100 {
        #expect(try ImageCodec.decode(path: "\(Self.folder)/color.bmp") == first)
        #expect(try ImageCodec.decode(bytes) == first)
      }
      #expect(OwnProcess().descriptorCount == before)
      #expect(WorkerPool.standard.idleProcesses.count == 1)
    }
  }
}
