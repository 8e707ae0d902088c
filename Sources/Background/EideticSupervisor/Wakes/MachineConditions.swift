import EideticLifecycle
import Glibc

/// The state of the machine, from files of the kernel.
enum MachineConditions {
    static var current: TaskConditions {
        var conditions = TaskConditions()
        conditions.hasNetwork = hasDefaultRoute
        conditions.isOnExternalPower = isOnExternalPower
        conditions.isIdle = isIdle
        return conditions
    }

    private static var hasDefaultRoute: Bool {
        let routes = KernelFile.read("/proc/net/route", limit: 1 << 16) ?? ""
        let hasRoute = routes.split(separator: "\n").dropFirst().contains { line in
            line.split(separator: "\t").dropFirst().first == "00000000"
        }
        let sixth = KernelFile.read("/proc/net/ipv6_route", limit: 1 << 16) ?? ""
        return hasRoute
            || sixth.split(separator: "\n").contains { line in
                let fields = line.split(separator: " ")
                return fields.count == 10 && fields[1] == "00" && fields[0].allSatisfy { $0 == "0" }
                    && fields[9] != "lo"
            }
    }

    /// A machine without a battery has external power.
    private static var isOnExternalPower: Bool {
        let directory = "/sys/class/power_supply"
        let supplies = KernelFile.names(in: directory).map { name in
            (type: value("\(directory)/\(name)/type"), isOnline: value("\(directory)/\(name)/online") == "1")
        }
        return supplies.contains { $0.type != "Battery" && $0.isOnline } || !supplies.contains { $0.type == "Battery" }
    }

    private static func value(_ path: String) -> String {
        (KernelFile.read(path, limit: 64) ?? "").filter { !$0.isWhitespace }
    }

    /// The share of the last 10 s in which something waited for a processor, below which the machine is idle.
    private static let busyShare = 20.0

    private static var isIdle: Bool {
        let pressure = KernelFile.read("/proc/pressure/cpu", limit: 1_024) ?? ""
        let field = pressure.split(separator: "\n").first?.split(separator: " ").first { $0.hasPrefix("avg10=") }
        return field.flatMap { Double($0.dropFirst(6)) }.map { $0 < busyShare } ?? true
    }
}

/// A place, as it is passed to applications.
struct Location: Equatable {
    let latitude: Double
    let longitude: Double
    /// The radius of uncertainty in metres.
    let accuracy: Double

    var isValid: Bool {
        (-90...90).contains(latitude) && (-180...180).contains(longitude) && accuracy >= 0 && accuracy.isFinite
    }

    /// The text of the wake's payload: three numbers, divided by spaces.
    var payload: [UInt8] { Array("\(latitude) \(longitude) \(accuracy)".utf8) }
}
