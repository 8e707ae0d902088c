/// The preference of the kernel's memory killer for the processes of an application: 0 in the foreground, 900 when
/// suspended.
///
/// A process that has chosen a greater value keeps it, and one that has chosen any other has it again in the
/// foreground.
struct MemoryPriorities {
    static let foreground = 0
    static let background = 200
    static let suspended = 900

    /// The values that the processes had chosen themselves, and those that were written over them.
    private var values: [Int32: (own: Int, written: Int)] = [:]

    init() {}

    /// Continues with what an earlier supervisor has recorded.
    init(chosen: [ApplicationRecord.MemoryPriority]) {
        for priority in chosen { values[priority.process] = (Int(priority.own), Int(priority.written)) }
    }

    /// The values other than 0 that the processes had chosen, for a successor.
    var chosen: [ApplicationRecord.MemoryPriority] {
        values.filter { $1.own != Self.foreground }.map { process, value in
            .init(process: process, own: Int32(value.own), written: Int32(value.written))
        }.sorted { $0.process < $1.process }
    }

    /// Sets the least value for processes; values that were not written here are their own.
    mutating func set(_ value: Int, for processes: [Int32]) {
        var next: [Int32: (own: Int, written: Int)] = [:]
        for process in processes {
            guard let current = Self.value(of: process) else { continue }
            let own = ownValue(of: process, current: current)
            let wanted = value == Self.foreground ? own : max(own, value)
            if wanted != current { try? KernelFile.write("\(wanted)", to: Self.path(of: process)) }
            next[process] = (own, wanted)
        }
        values = next
    }

    private func ownValue(of process: Int32, current: Int) -> Int {
        if let known = values[process], known.written == current { return known.own }
        // A child inherits the value of its parent; an earlier supervisor wrote the same ones.
        return current == Self.background || current == Self.suspended ? Self.foreground : current
    }

    private static func value(of process: Int32) -> Int? {
        KernelFile.read(path(of: process), limit: 16).flatMap { Int($0.filter { $0 != "\n" }) }
    }

    private static func path(of process: Int32) -> String { "/proc/\(process)/oom_score_adj" }
}
