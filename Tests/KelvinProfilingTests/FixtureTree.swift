import Glibc
import KelvinProfiling

/// A folder of small text files, as the kernel lays them out, that goes away with the value.
final class FixtureTree: Sendable {
  let root: String

  init(_ contents: [String: String]) {
    var template = Array("\(P_tmpdir)/kelvin-fixture-XXXXXX".utf8CString)
    root = mkdtemp(&template).map { String(cString: $0) } ?? ""
    for (path, text) in contents { write(path, text) }
  }

  deinit { remove(root) }

  /// What `read` finds on a machine laid out like this.
  static func reading<Value>(_ contents: [String: String], _ read: (SystemFiles) -> Value) -> Value {
    let tree = FixtureTree(contents)
    return withExtendedLifetime(tree) { read(tree.files) }
  }

  /// A machine that shows nothing.
  static let nothing = SystemFiles(root: "/no-such-folder")

  var files: SystemFiles { SystemFiles(root: root) }

  func write(_ path: String, _ text: String) {
    var folder = root
    for part in path.split(separator: "/").dropLast() {
      folder += "/" + part
      mkdir(folder, 0o755)
    }
    guard let file = fopen(root + "/" + path, "w") else { return }
    let bytes = Array(text.utf8)
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }

  private func remove(_ path: String) {
    for name in SystemFiles(root: path).names(in: "") { remove(path + "/" + name) }
    if unlink(path) != 0 { rmdir(path) }
  }
}

/// Machines as they lay out `/sys` and `/proc`.
enum Machines {
  static let intelLaptop: [String: String] = [
    "sys/class/thermal/thermal_zone0/type": "acpitz\n",
    "sys/class/thermal/thermal_zone0/temp": "-274000\n",
    "sys/class/thermal/thermal_zone3/type": "x86_pkg_temp\n",
    "sys/class/thermal/thermal_zone3/temp": "71000\n",
    "sys/class/thermal/thermal_zone3/trip_point_0_type": "passive\n",
    "sys/class/thermal/thermal_zone3/trip_point_0_temp": "0\n",
    "sys/class/thermal/thermal_zone4/type": "iwlwifi_1\n",
    "sys/class/thermal/thermal_zone4/temp": "99000\n",
    "sys/class/hwmon/hwmon2/name": "nvme\n",
    "sys/class/hwmon/hwmon2/temp1_input": "84850\n",
    "sys/class/hwmon/hwmon5/name": "coretemp\n",
    "sys/class/hwmon/hwmon5/temp1_input": "73000\n",
    "sys/class/hwmon/hwmon5/temp1_label": "Package id 0\n",
    "sys/class/hwmon/hwmon5/temp1_max": "100000\n",
    "sys/class/hwmon/hwmon5/temp1_crit": "100000\n",
    "sys/class/powercap/intel-rapl:0/name": "package-0\n",
    "sys/class/powercap/intel-rapl:0/energy_uj": "262143000000\n",
    "sys/class/powercap/intel-rapl:0/max_energy_range_uj": "262143328850\n",
    "sys/class/powercap/intel-rapl:0/constraint_0_name": "long_term\n",
    "sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw": "28000000\n",
    "sys/class/powercap/intel-rapl:0:0/name": "core\n",
    "sys/class/powercap/intel-rapl:0:0/energy_uj": "5\n",
    "sys/class/powercap/intel-rapl:0:0/max_energy_range_uj": "262143328850\n",
    "sys/class/powercap/intel-rapl:1/name": "psys\n",
    "sys/class/powercap/intel-rapl:1/energy_uj": "7\n",
    "sys/class/powercap/intel-rapl:1/max_energy_range_uj": "262143328850\n",
    "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "3\n",
    "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count": "10\n",
    "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count": "4\n",
    "sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count": "10\n",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "2300000\n",
    "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "4600000\n",
    "sys/devices/system/cpu/cpufreq/boost": "1\n",
    "sys/class/dmi/id/sys_vendor": "LENOVO\n",
    "proc/cpuinfo": (0...1).map {
      "processor\t: \($0)\nmodel name\t: 13th Gen Intel(R) Core(TM) i5-1340P\nflags\t\t: fpu vme sse2 avx2\n\n"
    }.joined(),
    "proc/meminfo": "MemTotal:       16123456 kB\nMemFree:  1 kB\n",
    "proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
    "proc/stat": stat(busy: 1000, idle: 9000, steal: 0),
    "proc/pressure/cpu": pressure(0),
  ]

  static let amdDesktop: [String: String] = [
    "sys/class/hwmon/hwmon0/name": "k10temp\n",
    "sys/class/hwmon/hwmon0/temp1_input": "81500\n",
    "sys/class/hwmon/hwmon0/temp1_label": "Tctl\n",
    "sys/class/hwmon/hwmon0/temp3_input": "79250\n",
    "sys/class/hwmon/hwmon0/temp3_label": "Tccd1\n",
    "sys/class/hwmon/hwmon1/name": "amdgpu\n",
    "sys/class/hwmon/hwmon1/temp1_input": "50000\n",
    "sys/class/hwmon/hwmon1/temp1_label": "edge\n",
    "sys/class/hwmon/hwmon1/temp1_crit": "100000\n",
    "sys/class/hwmon/hwmon1/power1_average": "31000000\n",
    "proc/stat": stat(busy: 0, idle: 100, steal: 0),
  ]

  static let armBoard: [String: String] = [
    "sys/class/thermal/thermal_zone0/type": "cpu-thermal\n",
    "sys/class/thermal/thermal_zone0/temp": "67166\n",
    "sys/class/thermal/thermal_zone0/trip_point_0_type": "active\n",
    "sys/class/thermal/thermal_zone0/trip_point_0_temp": "50000\n",
    "sys/class/thermal/thermal_zone0/trip_point_1_type": "critical\n",
    "sys/class/thermal/thermal_zone0/trip_point_1_temp": "110000\n",
    "sys/class/thermal/thermal_zone0/trip_point_2_type": "passive\n",
    "sys/class/thermal/thermal_zone0/trip_point_2_temp": "80000\n",
    "proc/cpuinfo": "processor\t: 0\nCPU part\t: 0xd0b\n\nprocessor\t: 1\nCPU part\t: 0xd0b\n\nModel\t\t: Pi 5\n",
    "proc/device-tree/model": "Raspberry Pi 5 Model B Rev 1.0\0",
  ]

  static let cloudGuest: [String: String] = [
    "sys/class/dmi/id/sys_vendor": "QEMU\n",
    "proc/cpuinfo": "processor\t: 0\nmodel name\t: Intel Xeon Processor\nflags\t\t: fpu hypervisor\n",
    "proc/stat": stat(busy: 1000, idle: 1000, steal: 0),
    "proc/pressure/cpu": pressure(0),
  ]

  static func stat(busy: Int, idle: Int, steal: Int) -> String {
    "cpu  \(busy) 0 0 \(idle) 0 0 0 \(steal) 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 5\n"
  }

  static func pressure(_ microseconds: Int) -> String {
    "some avg10=1.00 avg60=0.50 avg300=0.10 total=\(microseconds)\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
  }
}
