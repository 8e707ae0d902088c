import EideticBackground
import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// A control group with a limit, in which memory runs out.
@Suite("Memory limit of a control group", .timeLimit(.minutes(2)))
struct MemoryLimitTests {
    /// A kind of control group with a memory limit, if one can be created here.
    struct Kind: Sendable {
        let parent: String
        let limit: String

        static let legacy: Kind? = {
            let parent = "/sys/fs/cgroup/memory"
            return access("\(parent)/memory.limit_in_bytes", W_OK) == 0
                ? Kind(parent: parent, limit: "memory.limit_in_bytes") : nil
        }()

        static let unified: Kind? = {
            for parent in ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"]
            where access("\(parent)/cgroup.subtree_control", W_OK) == 0 {
                _ = system("echo +memory > \(parent)/cgroup.subtree_control 2>/dev/null")
                let controllers = (try? FileSystem().contents(of: "\(parent)/cgroup.subtree_control")) ?? []
                if String(decoding: controllers, as: UTF8.self).contains("memory") {
                    return Kind(parent: parent, limit: "memory.max")
                }
            }
            return nil
        }()
    }

    /// Returns a script that runs the probe in a group with a limit, and removes the group afterwards.
    private func script(_ kind: Kind, mebibytes: Int, arguments: String) -> String {
        """
        group=\(kind.parent)/eidetic-test-$$
        mkdir $group && test -f $group/\(kind.limit) && echo \(mebibytes << 20) > $group/\(kind.limit) || exit 1
        (echo $BASHPID > $group/cgroup.procs && exec \(ProbeProcess.command) --grow-from \(mebibytes * 5 / 8) \(arguments)) &
        probe=$!
        trap 'kill $probe' TERM
        # A signal ends a wait early; the one after the end gives the status again.
        while wait $probe; kill -0 $probe 2>/dev/null; do :; done
        wait $probe
        echo status $?
        rmdir $group
        """
    }

    /// Lets the probe grow to the limit of its group, and checks the levels that it was told.
    private func checkGrowth(_ kind: Kind, mebibytes: Int, arguments: String) async throws {
        let text = script(kind, mebibytes: mebibytes, arguments: arguments)
        let shell = try Subprocess("bash", arguments: ["-c", text])
        #expect(await shell.waitForOutput("released"), "\(shell.outputSoFar)")
        #expect(await shell.waitForOutput("pressure normal"))
        shell.kill(SIGTERM)
        let lines = await shell.waitUntilExit().outputText.split(separator: "\n").map(String.init)
        #expect(lines.contains("status 0"), "\(lines)")
        // Each level once, in order. On a busy machine a level may be skipped, but not the last one, and the first one
        // only where the kernel announces none.
        let levels = lines.filter { $0.hasPrefix("pressure") }.map { $0.dropFirst(9) }
        let order = ["warning", "urgent", "critical", "normal"]
        #expect(levels == order.filter { levels.contains($0[...]) }.map { $0[...] }, "\(levels)")
        #expect(levels.suffix(2) == ["critical", "normal"], "\(levels)")
        #expect(levels.first == "warning" || arguments.contains("--no-memory-thresholds"), "\(levels)")
        // The delegate is warned as often.
        let warnings = lines.filter { $0.hasPrefix("warned") }.map { $0.dropFirst(7) }
        #expect(warnings == levels.dropLast(), "\(lines)")
    }

    @Test(
        "B07 a process that grows to the limit of its group is warned in time, once per level, in the foreground too",
        .enabled(if: Kind.legacy != nil, "skipped: needs root and a memory controller of version 1"),
        .disabled(if: Sanitizer.isActive, "skipped: the memory of a sanitizer counts against the limit"),
        arguments: [
            (512, "--grow 100"), (128, "--grow 20"), (512, "--grow 100 --background"),
            (512, "--grow 100 --no-memory-thresholds"), (128, "--grow 20 --no-memory-thresholds"),
            (512, "--allocate 100 --no-memory-thresholds"),
        ]
    )
    func grows(mebibytes: Int, arguments: String) async throws {
        try await checkGrowth(try #require(Kind.legacy), mebibytes: mebibytes, arguments: arguments)
    }

    @Test(
        "B07 the same in a group of version 2",
        .enabled(if: Kind.unified != nil, "skipped: needs root and a memory controller of version 2"),
        .disabled(if: Sanitizer.isActive, "skipped: the memory of a sanitizer counts against the limit"),
        arguments: [(512, "--grow 100"), (128, "--grow 20"), (512, "--grow 100 --background")]
    )
    func growsUnified(mebibytes: Int, arguments: String) async throws {
        try await checkGrowth(try #require(Kind.unified), mebibytes: mebibytes, arguments: arguments)
    }

    private static let unifiedParent = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].first {
        access("\($0)/cgroup.procs", W_OK) == 0
    }

    @Test(
        "B07 an event of a group is reported once",
        .enabled(if: unifiedParent != nil, "skipped: needs root and a writable hierarchy of version 2")
    )
    func eventOnce() async throws {
        let group = "\(try #require(Self.unifiedParent))/eidetic-event-\(getpid())"
        try #require(mkdir(group, 0o755) == 0)
        defer { rmdir(group) }
        let triggers = MemoryPressureTriggers(eventFiles: ["\(group)/cgroup.events"], stallFiles: [])
        var polled = triggers.pollDescriptors(at: .zero)
        #expect(poll(&polled, 1, 0) == 0)
        // The group is populated, and then empty again.
        let script = "echo $$ > \(group)/cgroup.procs"
        #expect(try await Subprocess.run("sh", arguments: ["-c", script]).status == .exited(0))
        #expect(poll(&polled, 1, 60_000) == 1)
        #expect(triggers.highestPressure(in: polled) == .normal)
        // The kernel may announce the two changes one after the other.
        while poll(&polled, 1, 200) == 1 { #expect(triggers.highestPressure(in: polled) == .normal) }
        polled = triggers.pollDescriptors(at: .zero)
        #expect(polled.count == 1 && poll(&polled, 1, 0) == 0)
    }

    @Test(
        "B07 the events of a removed group are no longer polled",
        .enabled(if: unifiedParent != nil, "skipped: needs root and a writable hierarchy of version 2")
    )
    func groupIsGone() throws {
        let group = "\(try #require(Self.unifiedParent))/eidetic-gone-\(getpid())"
        try #require(mkdir(group, 0o755) == 0)
        let triggers = MemoryPressureTriggers(eventFiles: ["\(group)/cgroup.events"], stallFiles: [])
        #expect(triggers.count == 1)
        #expect(rmdir(group) == 0)
        var polled = triggers.pollDescriptors(at: .zero)
        #expect(poll(&polled, 1, 60_000) == 1)
        #expect(triggers.highestPressure(in: polled) == nil)
        #expect(triggers.count == 0)
    }
}
