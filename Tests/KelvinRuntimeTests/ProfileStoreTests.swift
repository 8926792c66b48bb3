import FoundationEssentials
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinRuntime
import Testing

/// The measurements of a user, kept between processes.
@Suite struct ProfileStoreTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "kelvin-store-\(UUID().uuidString)")
  private let here = MachineDescription(SystemFiles())

  private func device(_ id: String, driver: String = "d 1") -> DeviceInfo {
    DeviceInfo(id: id, name: "N", kind: .software, driver: driver, version: "1", memory: 0, resource: "cpu")
  }

  private func profile(_ device: DeviceInfo, _ seconds: Double, noisy: Bool = false) -> MeasuredProfile {
    MeasuredProfile(
      kelvinVersion: "1", machine: here, devices: [device.identity],
      nodes: [
        "relu full 1t": [
          device.id: NodeCost(
            seconds: seconds, interval: .init(lower: seconds, upper: seconds, confidence: 1), samples: 9,
            source: .hostClock, isNoisy: noisy)
        ]
      ])
  }

  private func store(_ version: String = "1") -> ProfileStore {
    ProfileStore(CacheDirectory(folder.path()), kelvinVersion: version)
  }

  private func seconds(_ loaded: (profile: MeasuredProfile?, remarks: [String]), _ id: String) -> Double? {
    loaded.profile?.cost(node: "relu full 1t", device: id)?.seconds
  }

  @Test func newMeasurementsReplaceOldOnes() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (first, second) = (device("a:0"), device("b:0"))
    #expect(try store().save(profile(first, 1)).isEmpty)
    #expect(try store().save(profile(second, 2)).isEmpty)
    #expect(try store().save(profile(first, 3)).isEmpty)
    #expect(try store().save(profile(first, 4, noisy: true)).isEmpty)
    let loaded = store().load(devices: [first, second])
    #expect(loaded.remarks.isEmpty)
    #expect(seconds(loaded, "a:0") == 3 && seconds(loaded, "b:0") == 2)
  }

  @Test func staleMeasurementsAreIgnoredWithAReason() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (first, second) = (device("a:0"), device("b:0"))
    _ = try store().save(profile(first, 1))
    _ = try store().save(profile(second, 2))
    let driver = store().load(devices: [device("a:0", driver: "d 2"), second])
    #expect(seconds(driver, "a:0") == nil && seconds(driver, "b:0") == 2)
    #expect(driver.remarks == ["a:0 was measured with driver d 1 1, now it has d 2 1"])
    // One that is merely absent keeps its measurements for when it returns.
    let absent = store().load(devices: [second])
    #expect(absent.remarks.isEmpty && seconds(absent, "a:0") == 1)
    let updated = store("2").load(devices: [first, second])
    #expect(updated.remarks == ["measured with Kelvin 1, this is 2"] && updated.profile?.nodes.isEmpty == true)
  }

  @Test func unreadableFileIsMovedAndReported() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let directory = CacheDirectory(folder.path())
    let junk: [UInt8] = Array("{\"format\": \"recipe\", \"version\": 1}".utf8)
    #expect(junk.withUnsafeBytes { directory.write("profiles/measured.json", [$0]) })
    let broken = store().load(devices: [])
    #expect(broken.profile == nil && broken.remarks.count == 1)
    let remarks = try store().save(profile(device("a:0"), 1))
    #expect(remarks.count == 1 && remarks[0].contains("rejected.json"), "\(remarks)")
    #expect(seconds(store().load(devices: [device("a:0")]), "a:0") == 1)
    #expect(directory.read("profiles/rejected.json")?.count == junk.count)
  }

  /// A changed figure in valid JSON.
  @Test func tamperedFileIsIgnored() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let measured = device("a:0")
    #expect(try store().save(profile(measured, 3)).isEmpty)
    let path = folder.appending(path: "profiles/measured.json")
    let text = String(decoding: try Data(contentsOf: path), as: UTF8.self)
    #expect(text.hasPrefix("{\n  \"seal\" : \""))
    // The document stays readable for other programs.
    #expect(try MeasuredProfile(json: Array(text.utf8), document: "p").nodes.count == 1)
    for changed in [text.replacing("\"seconds\" : 3", with: "\"seconds\" : 2"), text + " ", String(text.dropLast(2))] {
      #expect(changed != text)
      try Data(changed.utf8).write(to: path)
      let loaded = store().load(devices: [measured])
      #expect(loaded.profile == nil && loaded.remarks.count == 1)
      #expect(loaded.remarks[0].contains("not what was saved there"), "\(loaded.remarks)")
    }
    let remarks = try store().save(profile(device("b:0"), 1))
    #expect(remarks.count == 1 && remarks[0].contains("rejected.json"), "\(remarks)")
    #expect(seconds(store().load(devices: [device("b:0")]), "b:0") == 1)
  }
}
