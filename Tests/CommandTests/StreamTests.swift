import FaultyServer
import Glibc
import KelvinImages
import TestSupport
import Testing

/// `kelvin stream`. Sources are folders of images, raw frames from a pipe and, where ffmpeg is installed, clips of its
/// generators.
@Suite struct StreamTests {
  private static let hasFFmpeg = access("/usr/bin/ffmpeg", X_OK) == 0 && access("/usr/bin/ffprobe", X_OK) == 0
  private static let noFFmpeg = "needs ffmpeg: apt-get install ffmpeg"
  private static let vision = "\(Kelvin.root)/Tests/Vision"
  private static let detector = ["\(vision)/Heads/yolov8.onnx", "--head", "\(vision)/Heads/yolov8.json"]

  private let folder = TemporaryFolder()
  private var clip: String { "\(folder.path)/clip.mp4" }

  private func stream(
    _ arguments: [String], script: String? = nil, environment: [String: String] = [:]
  ) -> ToolResult {
    Kelvin.run(["stream"] + arguments + ["--units", "cpu"], environment: environment, script: script)
  }

  private func lines(_ result: ToolResult) throws -> [JSONValue] {
    try result.output.split(separator: "\n").map { try JSONValue(String($0)) }
  }

  /// Copies an image a number of times, under names in order.
  private func frames(_ count: Int, of image: String, in name: String = "frames") -> String {
    let target = "\(folder.path)/\(name)"
    mkdir(target, 0o700)
    let bytes = TemporaryFolder.read(image)
    for number in 0..<count { folder.write(bytes, "\(name)/\(100 + number).png") }
    return target
  }

  private func makeClip(_ options: String = "-f lavfi -i testsrc2=size=320x240:rate=25:duration=2") {
    let result = Kelvin.run(
      [], script: "exec ffmpeg -v error -nostdin -y \(options) -pix_fmt yuv420p \"\(clip)\"")
    #expect(result.status == 0, "\(result)")
  }

  /// Runs ffprobe and returns its output without the newline.
  private func probe(_ arguments: String, _ path: String) -> String {
    let result = Kelvin.run([], script: "exec ffprobe -v error -of default=nk=1:nw=1 \(arguments) \"\(path)\"")
    return result.output.split(separator: "\n").joined(separator: " ")
  }

  @Test func everyImageOfAFolderHasALineWithItsTime() throws {
    let images = frames(5, of: Kelvin.image("9_0125.png"))
    let result = stream([Kelvin.digits, images, "--format", "jsonl", "--fps", "10"])
    #expect(result.status == 0, "\(result)")
    let answers = try lines(result)
    #expect(answers.map { $0["frame"]?.number } == [0, 1, 2, 3, 4])
    #expect(answers.map { $0["time"]?.number } == [0, 0.1, 0.2, 0.3, 0.4])
    let photo = Kelvin.run(
      "classify", Kelvin.digits, Kelvin.image("9_0125.png"), "--units", "cpu", "--json")
    let expected = try #require(try JSONValue(photo.output).array?[0]["observations"]?.array)
    for answer in answers {
      let seen = try #require(answer["observations"]?.array)
      #expect(seen.map { $0["identifier"]?.text } == expected.map { $0["identifier"]?.text })
      let confidences = expected.compactMap { $0["confidence"]?.number }.map { ($0 * 1e4).rounded() / 1e4 }
      #expect(seen.compactMap { $0["confidence"]?.number } == confidences)
    }
  }

  @Test func trackedObjectsKeepTheirNumbers() throws {
    let images = frames(6, of: "\(Self.vision)/scene.png")
    let result = stream(Self.detector + [images, "--track", "--only", "heron", "--format", "jsonl"])
    #expect(result.status == 0, "\(result)")
    let numbers = try lines(result).map { answer in
      Set(answer["observations"]?.array?.compactMap { $0["id"]?.number } ?? [])
    }
    #expect(numbers.count == 6 && !numbers[0].isEmpty)
    #expect(numbers.allSatisfy { $0 == numbers[0] }, "\(numbers)")
    let summary = stream(Self.detector + [images, "--track", "--only", "heron"], environment: ["COLUMNS": "80"])
    #expect(summary.output.contains("6 frames, 6 answered") && summary.output.contains("heron, 0 s to"))
    #expect(summary.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    let csv = stream(Self.detector + [images, "--track", "--only", "heron", "--format", "csv"])
    #expect(csv.output.hasPrefix("source,frame,time,latency,id,identifier,confidence,x,y,width,height,error\n"))
    let tracked = csv.output.split(separator: "\n").filter { !$0.contains(",,heron") }
    #expect(tracked.count == 1 + 6 * numbers[0].count)
  }

  @Test func documentHasTheCountsOfEverySource() throws {
    let (first, second) = (
      frames(4, of: Kelvin.image("9_0125.png")), frames(7, of: Kelvin.image("9_0125.png"), in: "b")
    )
    let result = stream([Kelvin.digitsPackage, first, second, "--json"])
    #expect(result.status == 0, "\(result)")
    let sources = try #require(try JSONValue(result.output)["sources"]?.array)
    #expect(sources.map { $0["answered"]?.number } == [4, 7])
    #expect(sources.map { $0["frames"]?.number } == [4, 7])
  }

  @Test func rawFramesAreReadFromStandardInput() throws {
    let script =
      "{ printf 'YUV4MPEG2 W16 H16 F25:1 Ip A1:1 C420jpeg\\n'; for i in 1 2 3; do printf 'FRAME\\n'; "
      + "head -c 384 /dev/zero; done; } | \"$0\" \"$@\""
    let result = stream([Kelvin.digitsPackage, "-", "--format", "jsonl"], script: script)
    #expect(result.status == 0, "\(result)")
    #expect(try lines(result).map { $0["time"]?.number } == [0, 0.04, 0.08])
  }

  @Test func statusIsThatOfTheFirstFrameWithAnError() throws {
    let model = folder.write(ONNXFile.lookup(), "lookup.onnx")
    func bytes(_ count: Int, _ byte: String) -> String { "head -c \(count) /dev/zero | tr '\\0' '\(byte)'; " }
    let (black, white, gray) = (bytes(256, "\\20"), bytes(256, "\\353"), bytes(128, "\\200"))
    let script =
      "{ printf 'YUV4MPEG2 W16 H16 F25:1 Ip A1:1 C420jpeg\\n'; "
      + [black, white, black, white].map { "printf 'FRAME\\n'; " + $0 + gray }.joined() + "} | \"$0\" \"$@\""
    let arguments = [model, "-", "--normalization", "0:255", "--task", "classification", "--format", "jsonl"]
    let result = stream(arguments, script: script)
    #expect(try lines(result).map { $0["error"] == nil } == [true, false, true, false])
    #expect(result.status == 70 && result.errorLines.count == 1, "\(result)")
    #expect(result.errors.contains("2 frames with an error, the first: "), "\(result)")
  }

  @Test func limitsEndTheStream() throws {
    let images = frames(9, of: Kelvin.image("9_0125.png"))
    let few = stream([Kelvin.digitsPackage, images, "--frames", "3", "--format", "jsonl"])
    let answers = try lines(few)
    #expect(few.status == 0 && answers.count == 3, "\(few)")
    let short = stream([Kelvin.digitsPackage, images, "--live", "--fps", "2", "--duration", "0.8", "--json"])
    #expect(short.status == 0, "\(short)")
    let answered = try #require(try JSONValue(short.output)["sources"]?.array?[0]["answered"]?.number)
    #expect(answered == 2, "frames at 0 s and 0.5 s")
  }

  @Test func governorReportsTheSimulatedHeat() throws {
    let images = frames(150, of: Kelvin.image("9_0125.png"))
    let result = stream([
      Kelvin.digitsPackage, images, "--live", "--fps", "50", "--governor", "--simulate-heat", "phone", "--heat-speed",
      "600", "--json",
    ])
    #expect(result.status == 0, "\(result)")
    let document = try JSONValue(result.output)
    #expect(document["heat"]?.array?.isEmpty == false)
  }

  @Test func loopedImagesHaveALastingRateOfSimulatedHeat() throws {
    let images = frames(20, of: Kelvin.image("9_0125.png"))
    let result = stream([
      Kelvin.digitsPackage, images, "--live", "--loop", "--duration", "1.5", "--fps", "50", "--governor",
      "--simulate-heat", "phone", "--heat-speed", "600",
    ])
    #expect(result.status == 0, "\(result)")
    let words = result.output.split { $0.isWhitespace }.joined(separator: " ")
    #expect(words.contains("lasts \"phone\": "), "\(result)")
    #expect(words.contains(" min, simulated; heat at most "), "\(result)")
    #expect(words.contains("An hour takes 6.00 s"), "\(result)")
  }

  @Test(.enabled(if: Self.hasFFmpeg, "\(Self.noFFmpeg)"))
  func everyFrameOfAVideoIsAnsweredWithTheTimesOfFFprobe() throws {
    makeClip()
    let result = stream([Kelvin.digitsPackage, clip, "--format", "jsonl"])
    #expect(result.status == 0, "\(result)")
    let times = try lines(result).compactMap { $0["time"]?.number }
    let expected = probe("-select_streams v:0 -show_entries frame=best_effort_timestamp_time", clip)
    #expect(times == expected.split(separator: " ").compactMap { Double($0) }, "\(times) \(expected)")
    #expect(times.count == 50)
  }

  @Test(.enabled(if: Self.hasFFmpeg, "\(Self.noFFmpeg)"))
  func savedVideoHasTheFramesRateLengthAndSoundOfTheOriginal() throws {
    makeClip(
      "-f lavfi -i testsrc2=size=320x240:rate=25:duration=2 -f lavfi -i sine=frequency=440:duration=2 -c:a aac")
    let saved = "\(folder.path)/saved.mp4"
    let result = stream(Self.detector + [clip, "--save", saved, "--report", "\(folder.path)/page.html"])
    #expect(result.status == 0, "\(result)")
    for entries in ["nb_frames,r_frame_rate,width,height"] {
      let arguments = "-select_streams v:0 -show_entries stream=\(entries)"
      #expect(probe(arguments, saved) == probe(arguments, clip))
    }
    #expect(probe("-select_streams a:0 -show_entries stream=codec_name", saved) == "aac")
    let length = try #require(Double(probe("-show_entries format=duration", saved)))
    #expect(abs(length - 2) < 0.1)
    let page = String(decoding: TemporaryFolder.read("\(folder.path)/page.html"), as: UTF8.self)
    #expect(page.contains("50 answers") && page.contains("</html>"))
    let names = Kelvin.run([], script: "ls \"\(folder.path)\"").output
    #expect(!names.contains("partial"), "\(names)")
  }

  @Test(.enabled(if: Self.hasFFmpeg, "\(Self.noFFmpeg)"))
  func framesForAPlayerAreYUV4MPEG2() throws {
    makeClip()
    let script = "\"$0\" \"$@\" | ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 -"
    let result = stream([Kelvin.digitsPackage, clip, "--save", "-"], script: script)
    #expect(result.output.split(separator: "\n").first == "50", "\(result)")
    let closed = stream(
      [Kelvin.digitsPackage, clip, "--save", "-"], script: "\"$0\" \"$@\" | head -c 1000 > /dev/null")
    #expect(closed.errorLines.isEmpty, "\(closed)")
    #expect(closed.errors.contains(" answered"), "the record is printed after the player is closed")
  }

  @Test(.enabled(if: Self.hasFFmpeg, "\(Self.noFFmpeg)"))
  func closedReaderOfLinesLeavesACompleteVideo() throws {
    makeClip()
    let saved = "\(folder.path)/saved.mp4"
    let result = stream(
      [Kelvin.digitsPackage, clip, "--live", "--save", saved, "--format", "jsonl"],
      script: "\"$0\" \"$@\" | head -n 2")
    #expect(try lines(result).count == 2 && result.errors.contains("the video is in '\(saved)'"), "\(result)")
    let count = probe("-count_frames -select_streams v:0 -show_entries stream=nb_read_frames", saved)
    #expect((Int(count) ?? 0) >= 2, "\(count)")
  }

  @Test(.enabled(if: Self.hasFFmpeg, "\(Self.noFFmpeg)"))
  func limitOfTimeLeavesTheRecordAndACompleteVideo() throws {
    makeClip("-f lavfi -i testsrc2=size=320x240:rate=25:duration=60")
    let saved = "\(folder.path)/saved.mp4"
    let result = stream([Kelvin.digitsPackage, clip, "--live", "--max-seconds", "6", "--save", saved])
    #expect(result.status == 75 && result.errorLines.count == 1, "\(result)")
    #expect(result.output.contains(" answered") && result.errors.contains("--max-seconds"), "\(result)")
    #expect(result.errors.contains("the video is in '\(saved)'"), "\(result)")
  }

  @Test(.enabled(if: Self.hasFFmpeg, "\(Self.noFFmpeg)"))
  func filesThatAreReadAreNotWritten() throws {
    makeClip()
    let bytes = TemporaryFolder.read(clip)
    link(clip, "\(folder.path)/other.mp4")
    folder.write(bytes, "second.mp4")
    let cases: [([String], String)] = [
      ([clip, "--save", clip], "is a source"), ([clip, "--report", clip], "is a source"),
      ([clip, "--save", "\(folder.path)/other.mp4"], "is a source"),
      ([clip, "\(folder.path)/second.mp4", "--save", folder.path], "is a source"),
      ([clip, "--report", "\(Kelvin.digitsPackage)/page.html"], "is in the model"),
      ([clip, "--save", "\(folder.path)/a.mp4", "--report", "\(folder.path)/a.mp4"], "the file of --save"),
      ([clip, "\(folder.path)/second.mp4", "--save", "\(folder.path)/many.mp4"], "takes a folder for 2 sources"),
    ]
    for (arguments, part) in cases {
      let result = stream([Kelvin.digitsPackage] + arguments)
      #expect(result.status == 64 && result.errors.contains(part), "\(arguments) \(result)")
    }
    for option in ["--save", "--report"] {
      let result = stream([Kelvin.digitsPackage, clip, option, "\(folder.path)/absent/a.mp4"])
      #expect(result.status == 65 && result.errors.contains("does not exist"), "\(result)")
    }
    #expect(TemporaryFolder.read(clip) == bytes)
    let names = Kelvin.run([], script: "ls \"\(folder.path)\"").output.split(separator: "\n")
    #expect(names == ["clip.mp4", "other.mp4", "second.mp4"])
  }

  @Test func absentServerLeavesTheOtherSourcesTheirAnswers() throws {
    let images = frames(3, of: Kelvin.image("9_0125.png"))
    let result = stream([Kelvin.digitsPackage, images, "/dev/video99", "--json"])
    #expect(result.status == 65 && result.errorLines.count == 1, "\(result)")
    #expect(try JSONValue(result.output)["sources"]?.array?[0]["answered"]?.number == 3)
  }

  @Test func summaryNamesTheClassesAndEverySource() throws {
    let images = frames(4, of: Kelvin.image("9_0125.png"))
    let result = stream([Kelvin.digitsPackage, images, images])
    #expect(result.status == 0, "\(result)")
    #expect(result.output.contains("classes    nine in 100.0 % of the frames"), "\(result.output)")
    #expect(result.output.contains("\(images) (2)"), "\(result.output)")
    let none = stream(Self.detector + [images, "--min-confidence", "0.99"])
    #expect(none.output.contains("no object above the minimum confidence 0.99"), "\(none.output)")
  }

  @Test(.enabled(if: Self.hasFFmpeg, "\(Self.noFFmpeg)"))
  func truncatedVideoKeepsItsAnswersAndEndsWithAnError() throws {
    makeClip("-f lavfi -i testsrc2=size=320x240:rate=25:duration=4 -movflags +faststart")
    let bytes = TemporaryFolder.read(clip)
    folder.write(Array(bytes.prefix(bytes.count / 2)), "cut.mp4")
    let result = stream([Kelvin.digitsPackage, "\(folder.path)/cut.mp4", "--format", "jsonl"])
    let count = try lines(result).count
    #expect(count > 10 && count < 100)
    #expect(result.status == 65 && result.errorLines.count == 1, "\(result)")
  }

  /// Options of ffmpeg that make a clip, the exit status of a run, and words on standard error.
  private static let oddClips: [(options: String, status: Int32, words: String)] = [
    ("-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.4 -vf select='gt(mod(n\\,5)\\,1)' -vsync vfr", 0, ""),
    ("-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.4 -metadata:s:v rotate=90", 0, ""),
    ("-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.4 -c:v mpeg2video -f mpeg2video", 0, ""),
    ("-f lavfi -i sine=duration=0.4 -c:a aac", 65, "has no video stream"),
  ]

  @Test(.enabled(if: Self.hasFFmpeg, "\(Self.noFFmpeg)"), arguments: oddClips.indices)
  func statusShowsWhetherTheVideoCanBeRead(index: Int) throws {
    let (options, status, words) = Self.oddClips[index]
    makeClip(options)
    let result = stream([Kelvin.digitsPackage, clip, "--format", "jsonl"])
    #expect(result.status == status && result.errorLines.count == (status == 0 ? 0 : 1), "\(result)")
    #expect(try lines(result).isEmpty == (status != 0) && (words.isEmpty || result.errors.contains(words)), "\(result)")
  }

  @Test(.enabled(if: Self.hasFFmpeg, "\(Self.noFFmpeg)"))
  func changeOfTheSizeIsANote() throws {
    makeClip("-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.4 -c:v mpeg2video -f mpegts")
    let first = TemporaryFolder.read(clip)
    makeClip("-f lavfi -i testsrc2=size=32x24:rate=25:duration=0.4 -c:v mpeg2video -f mpegts")
    let path = folder.write(first + TemporaryFolder.read(clip), "both.ts")
    let result = stream([Kelvin.digitsPackage, path, "--format", "jsonl"])
    #expect(result.status == 0 && result.errorLines.isEmpty, "\(result)")
    #expect(try lines(result).count > 10 && result.errors.contains("the size or the format of the video changes"))
  }

  @Test(.enabled(if: Self.hasFFmpeg, "\(Self.noFFmpeg)"))
  func killedDecoderKeepsTheAnswers() throws {
    makeClip("-f lavfi -i testsrc2=size=320x240:rate=25:duration=20")
    let fiveLines = "for i in 1 2 3 4 5; do read -r line; printf '%s\\n' \"$line\"; done"
    let script =
      "mkfifo \"\(folder.path)/pipe\"; \"$0\" \"$@\" > \"\(folder.path)/pipe\" & child=$!; { \(fiveLines); "
      + "kill -KILL $(cat /proc/$child/task/*/children); cat; } < \"\(folder.path)/pipe\"; wait $child"
    let result = stream([Kelvin.digitsPackage, clip, "--live", "--format", "jsonl"], script: script)
    #expect(result.status == 70 && result.errorLines.count == 1, "\(result)")
    #expect(try lines(result).count >= 5 && result.errors.contains("was ended by signal 9"), "\(result)")
  }

  @Test(
    .enabled(
      if: Self.hasFFmpeg && FaultyServer.isAvailable, "\(Self.noFFmpeg); \(FaultyServer.reason)"))
  func serverThatStopsLeavesItsAnswers() throws {
    makeClip("-f lavfi -i testsrc2=size=64x48:rate=25:duration=8 -c:v mpeg2video -g 10 -f mpegts")
    let server = RTSPServer(clip, .stop, packets: 60)
    let result = stream([Kelvin.digitsPackage, "rtsp://127.0.0.1:\(server.port)/clip", "--format", "jsonl"])
    #expect(result.status == 65 && result.errorLines.count == 1, "\(result)")
    #expect(try !lines(result).isEmpty)
  }

  /// Programs in place of ffmpeg and ffprobe open a clip instead of the camera, and end as at an unplugged one.
  @Test(.enabled(if: Self.hasFFmpeg, "\(Self.noFFmpeg)"))
  func unpluggedCameraLeavesItsAnswers() throws {
    makeClip("-f lavfi -i testsrc2=size=64x48:rate=25:duration=2")
    for (tool, ending) in [("ffmpeg", "echo '/dev/null: No such device' >&2; exit 1"), ("ffprobe", "")] {
      let path = folder.write(
        """
        #!/bin/sh
        for word; do
          shift
          case $word in v4l2) word=mov ;; /dev/null) word='\(clip)' ;; esac
          set -- "$@" "$word"
        done
        /usr/bin/\(tool) "$@" || exit
        \(ending)
        """, tool)
      chmod(path, 0o700)
    }
    let result = stream(
      [Kelvin.digitsPackage, "/dev/null", "--format", "jsonl"], environment: ["PATH": "\(folder.path):/usr/bin:/bin"])
    #expect(result.status == 65 && result.errorLines.count == 1, "\(result)")
    #expect(result.errors.contains("ended after frame 49") && result.errors.contains("No such device"), "\(result)")
    #expect(try !lines(result).isEmpty)
  }

  @Test(.enabled(if: Self.hasFFmpeg, "\(Self.noFFmpeg)"))
  func interruptKeepsTheAnswersAndThePlayableFile() throws {
    makeClip("-f lavfi -i testsrc2=size=320x240:rate=25:duration=20")
    let saved = "\(folder.path)/saved.mp4"
    let fiveLines = "for i in 1 2 3 4 5; do read -r line; printf '%s\\n' \"$line\"; done"
    let script =
      "mkfifo \"\(folder.path)/pipe\"; \"$0\" \"$@\" > \"\(folder.path)/pipe\" & child=$!; "
      + "{ \(fiveLines); kill -INT $child; cat; } < \"\(folder.path)/pipe\"; wait $child"
    let result = stream([Kelvin.digitsPackage, clip, "--live", "--save", saved, "--format", "jsonl"], script: script)
    #expect(result.status == 130, "\(result)")
    let count = try lines(result).count
    #expect(count > 0 && count < 500)
    #expect(probe("-count_frames -select_streams v:0 -show_entries stream=nb_read_frames", saved) == "\(count)")
  }

  @Test(.enabled(if: Self.hasFFmpeg, "\(Self.noFFmpeg)"))
  func videoThatCannotBeSavedLosesNeitherTheRecordNorTheFramesSoFar() throws {
    makeClip("-f lavfi -i testsrc2=size=640x480:rate=25:duration=30")
    let saved = "\(folder.path)/saved.mp4"
    let result = Kelvin.run(
      ["stream", Kelvin.digitsPackage, clip, "--save", saved, "--units", "cpu"], shell: "ulimit -f 800")
    #expect(result.status == 70 && result.errorLines.count == 1, "\(result)")
    #expect(result.output.contains(" answered"), "\(result.output)")
    let count = probe("-count_frames -select_streams v:0 -show_entries stream=nb_read_frames", saved)
    #expect((Int(count) ?? 0) > 0, "\(count)")
  }

  @Test func missingFFmpegIsAnErrorWithThePackage() {
    folder.write(Array("not a video".utf8), "clip.mp4")
    let result = stream([Kelvin.digitsPackage, clip], environment: ["PATH": "/nowhere"])
    #expect(result.status == 70 && result.errorLines.count == 1, "\(result)")
    #expect(result.errors.contains("apt-get install ffmpeg"))
  }

  @Test(arguments: [
    ([Kelvin.digitsPackage], 64, "source"),
    ([Kelvin.digitsPackage, "/nowhere/clip.mp4"], 65, "/nowhere/clip.mp4"),
    ([Kelvin.digitsPackage, "\(vision)", "--parameters", "/nowhere.json"], 64, "/nowhere.json"),
    ([Kelvin.digitsPackage, "\(vision)", "--task", "detection"], 65, "classif"),
    ([Kelvin.digitsPackage, "\(vision)", "--task", "tracking"], 64, "is not a task"),
    ([Kelvin.digitsPackage, "\(vision)", "--only", "nine"], 64, "--only"),
    (["\(vision)/Heads/yolov8.onnx", "\(vision)"], 65, "describe its head (--head"),
    ([Kelvin.digitsPackage, "\(vision)", "--track"], 64, "--track is for detection and pose"),
    (detector + ["\(vision)", "--smooth"], 64, "--smooth is for classification and pose"),
    (detector + ["\(vision)", "--top", "3"], 64, "--top is for classification"),
    ([Kelvin.digitsPackage, "\(vision)", "--head", "\(vision)/Heads/yolov8.json"], 64, "--head is for detectors"),
    ([Kelvin.digitsPackage, "\(vision)", "--envelope", "phone"], 64, "add --governor"),
    ([Kelvin.digitsPackage, "\(vision)/scene.png", "\(vision)/scene.png"], 64, "quote the pattern"),
    ([Kelvin.digitsPackage, "\(vision)", "--frame", "3"], 64, "kelvin help stream"),
    ([Kelvin.digitsPackage, "\(vision)", "--max-watts", "5"], 64, "--governor"),
    ([Kelvin.digitsPackage, "\(vision)", "--governor"], 64, "--governor needs --live"),
    (
      [Kelvin.digitsPackage, "\(vision)", "--governor", "--simulate-heat", "phone", "--heat-speed", "0"], 64,
      "expected 1 to 600"
    ),
    ([Kelvin.digitsPackage, "-", "-"], 64, "standard input"),
    ([Kelvin.digitsPackage, "\(vision)", "--save", "-", "--format", "csv"], 64, "standard output"),
    ([Kelvin.digitsPackage, "\(vision)", "--save", "video.txt"], 64, "video.txt"),
  ])
  func mistakesAreNamed(arguments: [String], status: Int32, part: String) {
    let result = stream(arguments)
    #expect(result.status == status && result.errorLines.count == 1, "\(result)")
    #expect(result.errors.contains(part), "\(result)")
  }
}
