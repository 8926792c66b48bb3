import CFakeNVML
import KelvinMeasurements
import KelvinThermal

extension FuzzTarget {
  static let machine = [
    // Every sensor file with the same contents.
    FuzzTarget(
      "sensors", MeasurementError.self, longest: 256, seeds: Seeds.texts("45000\n", "coretemp\n", "package-0\n", "-1")
    ) { bytes in
      for path in SensorFiles.paths { MemoryFolder.write(bytes, to: path) }
      var snapshot = SensorSnapshot()
      for reader in sensorReaders { reader.read(SystemFiles(root: SensorFiles.root), into: &snapshot) }
    },
    // The answers of a card's driver: the readings, byte for byte, then a string for the card's names.
    FuzzTarget("nvml", MeasurementError.self, longest: 256, seeds: Seeds.readings) { bytes in
      var readings = FakeNVML()
      withUnsafeMutableBytes(of: &readings) {
        $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix($0.count)))
      }
      readings.count %= 100
      fake_nvml().pointee = readings
      fake_nvml_name(Array(bytes.dropFirst(MemoryLayout<FakeNVML>.size)) + [0])
      guard let library = try? NVMLLibrary(find: fake_nvml_find, context: nil) else { return }
      var snapshot = SensorSnapshot()
      NVMLReader(library: library).read(SystemFiles(root: SensorFiles.root), into: &snapshot)
    },
  ]
}

private enum SensorFiles {
  static let root = MemoryFolder.path("machine")

  static let paths: [String] = {
    let names = [
      "sys/class/hwmon/hwmon0": ["name", "temp1_input", "temp1_label", "temp1_max", "temp1_crit", "power1_average"],
      "sys/class/thermal/thermal_zone0": ["type", "temp", "trip_point_0_temp", "trip_point_0_type"],
      "sys/class/powercap/intel-rapl:0": [
        "name", "energy_uj", "max_energy_range_uj", "constraint_0_name", "constraint_0_power_limit_uw",
      ],
      "sys/devices/system/cpu/cpu0/thermal_throttle": ["core_throttle_count", "package_throttle_count"],
    ]
    return names.flatMap { folder, files in
      let path = MemoryFolder.path("machine/\(folder)")
      return files.map { "\(path)/\($0)" }
    }
  }()
}

extension Seeds {
  fileprivate static var readings: [[UInt8]] {
    let card = FakeNVML(
      initFailure: 0, failure: 0, readFailure: 0, count: 1, celsius: 61, slowdownCelsius: 87, milliwatts: 180_000,
      limitMilliwatts: 350_000, millijoules: 5_000_000, megahertz: 1200, highestMegahertz: 1800, reasons: 0, calls: 0)
    return [withUnsafeBytes(of: card) { Array($0) } + Array("NVIDIA Fake".utf8)]
  }
}
