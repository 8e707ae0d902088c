import EideticBackground
import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// A control group with a limit, in which memory runs out.
@Suite("Memory limit of a control group", .timeLimit(.minutes(2)))
struct MemoryLimitTests {
    private static let legacy = "/sys/fs/cgroup/memory"
    private static let unified = "/sys/fs/cgroup"

    /// The group in which groups with a limit can be created, and the name of the limit's file.
    static let controlGroup: (parent: String, limit: String)? = {
        if access("\(legacy)/memory.limit_in_bytes", W_OK) == 0 { return (legacy, "memory.limit_in_bytes") }
        _ = system("echo +memory > \(unified)/cgroup.subtree_control 2>/dev/null")
        let controllers = (try? FileSystem().contents(of: "\(unified)/cgroup.subtree_control")) ?? []
        return String(decoding: controllers, as: UTF8.self).contains("memory") ? (unified, "memory.max") : nil
    }()

    /// Returns a script that runs the probe in a group with a limit, and removes the group afterwards.
    private func script(mebibytes: Int, arguments: String) throws -> String {
        let (parent, limit) = try #require(Self.controlGroup)
        return """
            group=\(parent)/eidetic-test-$$
            mkdir $group && echo \(mebibytes << 20) > $group/\(limit) || exit 1
            (echo $BASHPID > $group/cgroup.procs; exec \(ProbeProcess.path) \(arguments)) & probe=$!
            trap 'kill $probe' TERM
            # A signal ends a wait early; the one after the end gives the status again.
            while wait $probe; kill -0 $probe 2>/dev/null; do :; done
            wait $probe
            echo status $?
            rmdir $group
            """
    }

    @Test(
        "B07 a growing process is warned at each level before it reaches its limit, and the pressure returns to normal",
        .enabled(if: controlGroup != nil, "skipped: needs root and a memory controller"),
        .disabled(if: Sanitizer.isActive, "skipped: the memory of a sanitizer counts against the limit")
    )
    func grows() async throws {
        let arguments = "--background --task up=-1 --grow 100"
        let shell = try Subprocess("bash", arguments: ["-c", try script(mebibytes: 256, arguments: arguments)])
        #expect(await shell.waitForOutput("released"), "\(shell.outputSoFar)")
        #expect(await shell.waitForOutput("pressure normal"))
        shell.kill(SIGTERM)
        // A second request expires the task at once.
        shell.kill(SIGTERM)
        let lines = await shell.waitUntilExit().outputText.split(separator: "\n").map(String.init)
        #expect(lines.contains("status 0"), "\(lines)")
        let levels = lines.filter { $0.hasPrefix("pressure") }
        #expect(levels.first == "pressure warning" || levels.first == "pressure urgent", "\(levels)")
        #expect(levels.contains("pressure critical") && levels.last == "pressure normal", "\(levels)")
        // The delegate is warned, too.
        #expect(lines.contains("warned critical"), "\(lines)")
    }

    @Test(
        "B07 the events of a removed group are no longer polled",
        .enabled(if: getuid() == 0 && access("/proc/self/cgroup", R_OK) == 0, "skipped: needs root")
    )
    func groupIsGone() throws {
        let parent = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].first { access("\($0)/cgroup.procs", W_OK) == 0 }
        guard let parent else { return }
        let group = "\(parent)/eidetic-gone-\(getpid())"
        try #require(mkdir(group, 0o755) == 0)
        let triggers = MemoryPressureTriggers(eventFiles: ["\(group)/cgroup.events"], usesStallInformation: false)
        #expect(triggers.pollDescriptors.count == 1)
        #expect(rmdir(group) == 0)
        var polled = triggers.pollDescriptors
        #expect(poll(&polled, 1, 10_000) == 1)
        #expect(triggers.highestPressure(in: polled) == nil)
        #expect(triggers.pollDescriptors.isEmpty)
    }
}
