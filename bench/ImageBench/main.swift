import Dispatch
import FoundationEssentials
import Glibc
import Kelvin
import KelvinVision

/// Kelvin's image code for `bench/images.py`, `bench/segmentation.py` and `dev/compare-images.py`:
///
///     ImageBench decode DIR FILE…
///     ImageBench rate THREADS DIR
///     ImageBench fuse FRAME.rgb WIDTH HEIGHT CHANNELS SIDE RULE ITERATIONS TENSOR
///     ImageBench segment MODEL LEVEL ITERATIONS FILE…
///
/// `decode` writes the upright 8-bit RGB pixels of the n-th file to `DIR/n.rgb` and prints `n WIDTH HEIGHT`, or
/// `n ERROR` and the reason. `rate` decodes every file of a folder on THREADS threads and prints the files a second.
/// `fuse` crops, scales and normalises a frame to a float32 tensor `3 x SIDE x SIDE`, as for
/// a model that takes ImageNet's mean and deviation, prints the seconds of each iteration, and writes the tensor.
/// `segment` takes a file from its bytes to a label map and an overlay as PNG files' bytes, and prints `n MODEL DECODE SEGMENT
/// OVERLAY ENCODE MAP` for each iteration of the n-th: seconds of the model alone, given an image of its own size just before,
/// then of each step.
func fail(_ reason: String) -> Never {
  _ = "ImageBench: \(reason)\n".withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
  exit(64)
}

func write(_ bytes: UnsafeRawBufferPointer, to path: String) {
  guard let file = fopen(path, "wb"), fwrite(bytes.baseAddress, 1, bytes.count, file) == bytes.count, fclose(file) == 0
  else { fail("cannot write \(path)") }
}

func decode(_ files: ArraySlice<String>, into folder: String) {
  for (index, path) in files.enumerated() {
    do throws(ImageError) {
      let decoded = try ImageFile.decode(path: path)
      let upright = try decoded.pixels.oriented(decoded.orientation)
      upright.bytes.withUnsafeBytes { write($0, to: "\(folder)/\(index).rgb") }
      print(index, upright.width, upright.height)
    } catch {
      print(index, "ERROR", error)
    }
  }
}

/// Decodes all files of a folder and discards the results.
func rate(_ folder: String, threads: Int) -> Double {
  guard let stream = opendir(folder) else { fail("cannot look into \(folder)") }
  var files: [String] = []
  while let entry = readdir(stream) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if !name.hasPrefix(".") { files.append("\(folder)/\(name)") }
  }
  closedir(stream)
  let paths = files
  let began = seconds()
  DispatchQueue.concurrentPerform(iterations: threads) { thread in
    for index in stride(from: thread, to: paths.count, by: threads) { _ = try? ImageFile.decode(path: paths[index]) }
  }
  return Double(paths.count) / (seconds() - began)
}

func seconds() -> Double {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return Double(now.tv_sec) + Double(now.tv_nsec) * 1e-9
}

func fuse(_ path: String, _ width: Int, _ height: Int, _ channels: Int, _ side: Int, _ rule: String, _ iterations: Int)
  throws -> [Float]
{
  let rules: [String: ImageCropAndScale] = [
    "center-crop": .centerCrop, "scale-fit": .scaleToFit, "scale-fill": .scaleToFill,
  ]
  let formats: [Int: PixelFormat] = [1: .gray8, 3: .rgb8, 4: .bgra8]
  guard let cropAndScale = rules[rule], let format = formats[channels] else { fail("no such rule or format") }
  var bytes = [UInt8](repeating: 0, count: width * height * channels)
  guard let file = fopen(path, "rb"), fread(&bytes, 1, bytes.count, file) == bytes.count, fclose(file) == 0 else {
    fail("cannot read \(bytes.count) bytes of \(path)")
  }
  let frame = try PixelBuffer(width: width, height: height, format: format, bytes: bytes)
  let scale = [0.229, 0.224, 0.225].map { Float(1 / (255 * $0)) }
  let bias = zip([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]).map { Float(-$0 / $1) }
  var tensor = [Float](repeating: 0, count: (channels == 1 ? 1 : 3) * side * side)
  for _ in 0..<iterations {
    let began = seconds()
    try tensor.withUnsafeMutableBufferPointer { tensor in
      try frame.fill(tensor, width: side, height: side, cropAndScale: cropAndScale, scale: scale, bias: bias)
    }
    print(seconds() - began)
  }
  return tensor
}

func segment(_ modelPath: String, level: Int, iterations: Int, _ files: ArraySlice<String>) throws {
  let model = try Model(contentsOf: URL(filePath: modelPath), configuration: ModelConfiguration(computeUnits: .cpuOnly))
  let request = try SegmentationRequest(model: model)
  guard let input = model.modelDescription.inputDescriptionsByName.first, let size = input.value.imageConstraint else {
    fail("\(modelPath) takes no image")
  }
  for (index, path) in files.enumerated() {
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let own = try ImageFile.decode(bytes, name: path).pixels.resized(width: size.pixelsWide, height: size.pixelsHigh)
    let features = DictionaryFeatureProvider(dictionary: [input.key: FeatureValue(image: own)])
    for iteration in -3..<iterations {
      var times = [seconds()]
      _ = try model.prediction(from: features)
      times.append(seconds())
      let image = try ImageFile.decode(bytes, name: path)
      times.append(seconds())
      let seen = try request.perform(on: image.pixels, orientation: image.orientation)
      times.append(seconds())
      let overlay = try seen.overlay(on: image.pixels, orientation: image.orientation)
      times.append(seconds())
      _ = try ImageFile.encode(overlay, as: .png, level: level)
      times.append(seconds())
      _ = try seen.labelMapPNG()
      times.append(seconds())
      let steps = zip(times, times.dropFirst()).map { "\($1 - $0)" }
      if iteration >= 0 { print(index, steps.joined(separator: " ")) }
    }
  }
}

let arguments = CommandLine.arguments
switch (arguments.dropFirst().first, arguments.count) {
case ("decode", 4...):
  decode(arguments[3...], into: arguments[2])
case ("fuse", 10):
  let numbers = [arguments[3], arguments[4], arguments[5], arguments[6], arguments[8]].compactMap { Int($0) }
  guard numbers.count == 5, numbers.allSatisfy({ $0 > 0 }) else { fail("sizes are whole numbers from 1") }
  let tensor = try fuse(arguments[2], numbers[0], numbers[1], numbers[2], numbers[3], arguments[7], numbers[4])
  tensor.withUnsafeBytes { write($0, to: arguments[9]) }
case ("rate", 4):
  guard let threads = Int(arguments[2]), threads > 0 else { fail("\(arguments[2]) is not a number of threads") }
  print(rate(arguments[3], threads: threads))
case ("segment", 6...):
  guard let level = Int(arguments[3]), let iterations = Int(arguments[4]) else { fail("numbers are expected") }
  try segment(arguments[2], level: level, iterations: iterations, arguments[5...])
default:
  fail(
    "usage: decode DIR FILE… | rate THREADS DIR | fuse FRAME.rgb WIDTH HEIGHT CHANNELS SIDE RULE ITERATIONS TENSOR | segment MODEL LEVEL ITERATIONS FILE…"
  )
}
