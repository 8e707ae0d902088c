import EideticCore
import EideticSupervision
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite(
    "Conditions of processing",
    .serialized,
    .timeLimit(.minutes(1)),
    .enabled(if: geteuid() == 0, "needs root for a network of its own")
)
struct ConditionTests {
    /// The words before those of a supervisor in a network of its own, with one route.
    private static let network = [
        "unshare", "--net", "/bin/sh", "-c", "ip link set lo up && ip route add default dev lo && exec \"$@\"", "sh",
    ]

    @Test("B12 processing that needs the network is stopped when the kernel reports that the network is gone")
    func network() async throws {
        // The supervisor does not look by itself.
        let options = WakeHarness.fast + ["--limit", "conditions=3600000"]
        let harness = try await WakeHarness(ControlGroups.kinds[0], options, launcher: Self.network)
        let daemon = harness.daemon
        try await harness.launch("one")
        try await harness.send("processing network", to: "one")
        try await harness.bring("one", to: .suspended)
        try daemon.perform(.simulate(identifier: "one", .task("network")))
        await daemon.expectOutput("one runs network\n")
        let namespace = "--net=/proc/\(daemon.process.identifier)/ns/net"
        let words = [namespace, "ip", "route", "delete", "default"]
        let result = try await Subprocess.run("nsenter", arguments: words)
        #expect(result.status == .exited(0), "\(result.errorText)")
        await daemon.expectOutput("one network is stopped\n")
        let lines = try harness.log("one").filter { $0.contains("processing is stopped: there is no network") }
        #expect(lines.count == 1, "\(lines)")
        await daemon.expectState(.suspended, of: "one")
        await harness.finish()
    }
}
