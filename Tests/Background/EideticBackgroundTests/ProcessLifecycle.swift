import EideticTestSupport
import Glibc
import Testing

/// A path through the state table in a real process: its arguments, and all callbacks in order.
struct ProcessLifecycle: Sendable, CustomTestStringConvertible {
    let name: String
    let arguments: [String]
    /// The moment at which the process is sent SIGTERM; `nil` if it ends without.
    let terminationMoment: Moment?
    let callbacks: [String]
    var expectedStatus = ExitStatus.exited(0)
    /// A part of the report of the kill.
    var expectedReport = ""
    /// The saved state that the next process receives: that of this one, of the one before it, or none.
    var nextArchive: String? = ownArchive

    var testDescription: String { name }

    /// The moment at which a process has written a text a number of times.
    struct Moment: Sendable, ExpressibleByStringLiteral {
        let output: String
        var count = 1

        init(_ text: String, times: Int) { (self.output, self.count) = (text, times) }

        init(stringLiteral text: String) { self.output = text }
    }

    /// The state that the process saves on entering the background, and that of the process before it.
    static let ownArchive = "page 8"
    static let earlierArchive = "page 7"

    static let launch = ["willFinishLaunching inactive", "didFinishLaunching inactive", "didBecomeActive active"]
    static let resign = ["willResignActive active"]
    static let enter = ["didEnterBackground background"]
    static let back = ["willEnterForeground background", "didBecomeActive active"]
    static let terminate = ["willTerminate background", "late begin refused"]
    static let stopped = resign + enter + terminate

    static let all: [ProcessLifecycle] = starting + presenting + inBackground + ending

    static let starting: [ProcessLifecycle] = [
        ProcessLifecycle(
            name: "not running, launch",
            arguments: [],
            terminationMoment: "state active",
            callbacks: launch + stopped
        ),
        ProcessLifecycle(
            name: "not running, launch, and terminate before any callback",
            arguments: ["--stop-at-start"],
            terminationMoment: nil,
            callbacks: launch.prefix(2) + enter + terminate
        ),
        ProcessLifecycle(
            name: "launching, deadline",
            arguments: ["--hang", "didFinishLaunching=60000", "--launch-limit", "1500"],
            terminationMoment: nil,
            callbacks: Array(launch.prefix(2)),
            expectedStatus: .signalled(SIGKILL),
            expectedReport: "0x8badf00d: the launch took too long",
            nextArchive: nil
        ),
        ProcessLifecycle(
            name: "launching, exit",
            arguments: ["--crash-at-launch"],
            terminationMoment: nil,
            callbacks: Array(launch.prefix(1)),
            expectedStatus: .signalled(SIGABRT),
            nextArchive: nil
        ),
        ProcessLifecycle(
            name: "launching, terminate",
            arguments: ["--hang", "didFinishLaunching=500"],
            terminationMoment: "didFinishLaunching",
            callbacks: launch.prefix(2) + enter + terminate
        ),
    ]

    static let presenting: [ProcessLifecycle] = [
        ProcessLifecycle(
            name: "active, deactivate; inactive, terminate",
            arguments: ["--inactive"],
            terminationMoment: "willResignActive active\nstate inactive",
            callbacks: launch + stopped
        ),
        ProcessLifecycle(
            name: "active, deactivate, too slow",
            arguments: ["--inactive", "--hang", "willResignActive=60000", "--callback-limit", "1500"],
            terminationMoment: nil,
            callbacks: launch + resign,
            expectedStatus: .signalled(SIGKILL),
            expectedReport: "0x8badf00d: applicationWillResignActive took too long",
            nextArchive: earlierArchive
        ),
        ProcessLifecycle(
            name: "inactive, activate",
            arguments: ["--inactive", "--foreground"],
            terminationMoment: Moment("didBecomeActive active", times: 2),
            callbacks: launch + resign + ["didBecomeActive active"] + stopped
        ),
        ProcessLifecycle(
            name: "active, enter background, by way of inactive; background, terminate",
            arguments: ["--background"],
            terminationMoment: "state background",
            callbacks: launch + stopped
        ),
        ProcessLifecycle(
            name: "inactive, enter background",
            arguments: ["--inactive", "--background"],
            terminationMoment: "state background",
            callbacks: launch + stopped
        ),
        ProcessLifecycle(
            name: "inactive, enter background, too slow",
            arguments: ["--background", "--hang", "didEnterBackground=60000", "--background-limit", "1500"],
            terminationMoment: nil,
            callbacks: launch + resign + enter,
            expectedStatus: .signalled(SIGKILL),
            expectedReport: "0x8badf00d: applicationDidEnterBackground took too long",
            nextArchive: earlierArchive
        ),
        ProcessLifecycle(
            name: "background, enter foreground",
            arguments: ["--background", "--foreground"],
            terminationMoment: Moment("didBecomeActive active", times: 2),
            callbacks: launch + resign + enter + back + stopped
        ),
    ]

    static let inBackground: [ProcessLifecycle] = [
        ProcessLifecycle(
            name: "background, nothing open, of an application that exits on suspend",
            arguments: ["--background", "--exits-on-suspend"],
            terminationMoment: nil,
            callbacks: launch + stopped
        ),
        ProcessLifecycle(
            name: "background, budget spent, tasks end",
            arguments: ["--background", "--task", "a=-1", "--task", "b=-1", "--budget", "200"],
            terminationMoment: "expired b",
            callbacks: launch + resign + enter + ["expired a", "expired b"] + terminate
        ),
        ProcessLifecycle(
            name: "background, budget spent, a task does not end",
            arguments: [
                "--background", "--task", "a=-1", "--budget", "200", "--expiry-limit", "1500", "--ignore-expiry",
            ],
            terminationMoment: nil,
            callbacks: launch + resign + enter + ["expired a"],
            expectedStatus: .signalled(SIGKILL),
            expectedReport: "0x2182bad2: background tasks were open after their expiry; open tasks: a"
        ),
        ProcessLifecycle(
            name: "expiring, enter foreground",
            arguments: [
                "--background", "--task", "a=-1", "--budget", "200", "--expiry-limit", "1500", "--ignore-expiry",
                "--return-at-expiry", "--grace", "0",
            ],
            terminationMoment: Moment("didBecomeActive active", times: 2),
            callbacks: launch + resign + enter + ["expired a"] + back + resign + enter,
            expectedStatus: .signalled(SIGKILL),
            expectedReport: "open tasks: a"
        ),
    ]

    static let ending: [ProcessLifecycle] = [
        ProcessLifecycle(
            name: "running, terminate, tasks that end within the grace",
            arguments: ["--task", "a=300"],
            terminationMoment: "state active",
            callbacks: launch + resign + enter + ["done a"] + terminate
        ),
        ProcessLifecycle(
            name: "running, terminate, tasks beyond the grace",
            arguments: ["--task", "a=-1", "--grace", "200"],
            terminationMoment: "state active",
            callbacks: launch + resign + enter + ["expired a"] + terminate
        ),
        ProcessLifecycle(
            name: "terminating, too slow",
            arguments: ["--hang", "willTerminate=60000", "--termination-limit", "300"],
            terminationMoment: "state active",
            callbacks: launch + resign + enter + ["willTerminate background"],
            expectedStatus: .signalled(SIGKILL),
            expectedReport: "0x8badf00d: applicationWillTerminate took too long"
        ),
    ]
}
