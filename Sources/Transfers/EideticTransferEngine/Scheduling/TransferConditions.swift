import EideticCore
package import EideticTransfer
import Glibc

/// The conditions for discretionary sessions.
package protocol TransferConditions: Sendable {
    /// Returns the reasons for which discretionary transfers wait; empty if they may run.
    func unmetConditions() -> [WaitReason]
}

/// The conditions of this machine: external power, and processors that are not busy.
///
/// A condition that the system does not report counts as met. The supervisor reports a metered network.
package struct SystemConditions: TransferConditions {
    private let fileSystem = FileSystem()
    private let root: String

    /// The share of time in which tasks waited for a processor, in percent, above which the machine is busy.
    private static let busyPercentage = 25.0

    /// Creates the conditions, from the files below `root`.
    package init(root: String = "") { self.root = root }

    package func unmetConditions() -> [WaitReason] {
        var reasons: [WaitReason] = []
        if !hasExternalPower { reasons.append(WaitReason(.power, text: "waits for external power, at most 24 hours")) }
        if isBusy { reasons.append(WaitReason(.busy, text: "waits until the machine is less busy, at most 24 hours")) }
        return reasons
    }

    private var hasExternalPower: Bool {
        let directory = "\(root)/sys/class/power_supply"
        let supplies = (try? fileSystem.entryNames(in: directory)) ?? []
        let types = supplies.map { ($0, text("\(directory)/\($0)/type")) }
        guard types.contains(where: { $0.1 == "Battery" }) else { return true }
        return types.contains { $0.1 != "Battery" && text("\(directory)/\($0.0)/online") == "1" }
    }

    private var isBusy: Bool {
        guard
            let average = text("\(root)/proc/pressure/cpu").split(separator: " ").first(where: {
                $0.hasPrefix("avg60=")
            })
        else { return false }
        return Double(average.dropFirst(6)) ?? 0 > Self.busyPercentage
    }

    private func text(_ path: String) -> String {
        let bytes = (try? fileSystem.contents(of: path, limit: 4_096)) ?? []
        return String(decoding: bytes.reversed().drop { $0 <= 32 }.reversed(), as: UTF8.self)
    }
}
