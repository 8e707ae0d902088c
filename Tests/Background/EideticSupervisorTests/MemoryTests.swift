import EideticCore
import EideticSupervision
@testable import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite(
    "Applications that end when memory is short",
    .serialized,
    .timeLimit(.minutes(3)),
    .enabled(if: LimitedGroup.isAvailable, "skipped: needs root and a memory controller of version 1"),
    .disabled(if: Sanitizer.isActive, "skipped: the memory of a sanitizer counts against the limit")
)
struct MemoryTests {
    private static let options = ["--limit", "idle=5"]

    @Test(
        "B07 suspended ones end first, the largest first, then those in the background, and never the foreground",
        arguments: ControlGroups.kinds
    )
    func order(kind: FreezerKind) async throws {
        let group = try LimitedGroup(mebibytes: 768)
        let daemon = try await Daemon(kind, Self.options, memoryGroup: group)
        try await suspend(["small": 30, "large": 70], in: daemon)
        try daemon.launch("worker", ["--memory", "30", "--task", "upload", "--end-tasks"])
        try daemon.launch("stubborn", ["--memory", "50", "--task", "upload"])
        for name in ["worker", "stubborn"] {
            await daemon.expectState(.active, of: name)
            try daemon.perform(.background(identifier: name))
            await daemon.expectOutput("\(name) task upload\n")
        }
        try daemon.launch("front", ["--memory", "20"])
        // It would grow to the limit, where the kernel would choose it, if the others did not end before.
        try daemon.launch("growing", ["--memory", "400", "--growth", "350"])
        for name in ["large", "small", "stubborn", "worker"] { await daemon.expectState(.notRunning, of: name) }
        for name in ["front", "growing"] { await daemon.expectState(.active, of: name) }
        try daemon.perform(.quit(identifier: "growing", force: true))
        let log = try daemon.lines(.log(identifier: nil, count: 200))
        let ends = log.compactMap { line -> String? in
            let words = line.split(separator: " ", maxSplits: 3)
            guard words.count > 3, words[2] == "ended:", words[1] != "growing" else { return nil }
            return "\(words[1]) \(words[3])"
        }
        #expect(ends.map { $0.split(separator: " ")[0] } == ["large", "small", "stubborn", "worker"], "\(log)")
        let killed = "killed, code 0x00000000: memory was exhausted"
        #expect(ends.prefix(3).allSatisfy { $0.contains(killed) } && ends[2].contains("open tasks"), "\(ends)")
        #expect(ends.last?.hasPrefix("worker ended in the background, as memory was short") == true, "\(ends)")
        // A callback for those that ran only, and a warning for the application that the user sees.
        for line in ["front memory ", "worker willTerminate\n"] { await daemon.expectOutput(line) }
        let lines = daemon.output.split(separator: "\n")
        #expect(lines.contains("worker expire") && lines.contains("worker willTerminate"), "\(lines)")
        #expect(!lines.contains("large willTerminate") && !lines.contains("small willTerminate"))
        #expect(try daemon.lines(.explain(identifier: "large")).contains { $0.contains(killed) })
        await daemon.finish()
    }

    @Test("B07 an application that was killed when memory was short is told why at its next launch")
    func reason() async throws {
        let group = try LimitedGroup(mebibytes: 256)
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.options, memoryGroup: group)
        _ = try daemon.launchApplication("saved", program: "background")
        await daemon.expectState(.active, of: "saved")
        try await daemon.suspend("saved")
        try daemon.launch("growing", ["--growth", "\(256)"])
        await daemon.expectState(.notRunning, of: "saved")
        try daemon.perform(.quit(identifier: "growing", force: true))
        await daemon.expectState(.notRunning, of: "growing")
        try daemon.perform(.launch(identifier: "saved", url: nil, inBackground: false))
        await daemon.expectOutput("report killed, code 0x00000000: memory was exhausted")
        await daemon.finish()
    }

    @Test("B07 nobody ends while memory is plenty, however many are suspended")
    func plenty() async throws {
        let group = try LimitedGroup(mebibytes: 384)
        let daemon = try await Daemon(ControlGroups.kinds[0], Self.options, memoryGroup: group)
        try await suspend(["small": 30, "large": 70], in: daemon)
        try daemon.launch("growing", ["--growth", "100"])
        await daemon.expectOutput("growing has grown\n")
        #expect(try daemon.list().allSatisfy { $0.process != nil })
        #expect(!daemon.output.contains("memory"))
        await daemon.finish()
    }

    private func suspend(_ sizes: [String: Int], in daemon: Daemon) async throws {
        for (name, size) in sizes.sorted(by: { $0.key < $1.key }) {
            try await daemon.launchInForeground(name, ["--memory", "\(size)"])
            try await daemon.suspend(name)
        }
    }
}

@Suite("The choice of the application that ends when memory is short")
struct MemoryReliefTests {
    private static func candidate(_ name: String, isSuspended: Bool, size: UInt64) -> MemoryRelief.Candidate {
        MemoryRelief.Candidate(identifier: name, isSuspended: isSuspended, residentMemory: size)
    }

    @Test("B07 the largest suspended one, then the largest in the background")
    func order() {
        var candidates = [("a", false, 900), ("b", true, 10), ("c", true, 20), ("d", false, 30)].map {
            Self.candidate($0, isSuspended: $1, size: UInt64($2))
        }
        var order = ""
        while let first = MemoryRelief.first(of: candidates) {
            order += first.identifier
            candidates.removeAll { $0 == first }
        }
        #expect(order == "cbad")
    }

    @Test("B07 at critical pressure at once, at urgent pressure after a second, and not two within 0.1 s")
    func moments() {
        var relief = MemoryRelief()
        #expect(relief.choiceTime(at: .warning, now: .seconds(1)) == nil)
        #expect(relief.choiceTime(at: .urgent, now: .seconds(2)) == .seconds(3))
        // Relief in between: the second begins again.
        #expect(relief.choiceTime(at: .normal, now: .milliseconds(2_500)) == nil)
        #expect(relief.choiceTime(at: .urgent, now: .milliseconds(2_800)) == .milliseconds(3_800))
        #expect(relief.choiceTime(at: .critical, now: .seconds(3)) ?? .seconds(9) <= .seconds(3))
        relief.recordChoice(at: .seconds(3))
        #expect(relief.choiceTime(at: .critical, now: .seconds(3)) == .milliseconds(3_100))
        #expect(relief.choiceTime(at: .urgent, now: .seconds(3)) == .milliseconds(3_800))
    }
}
