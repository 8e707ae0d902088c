import EideticTestSupport
import Glibc
import Testing

/// One row of the table of states, as a real process takes it: what it is asked to do, and all callbacks that it gets.
struct LifeRow: Sendable, CustomTestStringConvertible {
    let name: String
    let arguments: [String]
    /// When the process is sent SIGTERM; `nil`: it ends without.
    let stop: Moment?
    let callbacks: [String]
    var end = ExitStatus.exited(0)
    /// What the report of a kill says.
    var report = ""
    /// Whether the state of the life before is still there for the next one.
    var keepsArchive = true

    var testDescription: String { name }

    /// A moment in the life of a process: it has written a text, and so often.
    struct Moment: Sendable, ExpressibleByStringLiteral {
        let text: String
        var times = 1

        init(_ text: String, times: Int) { (self.text, self.times) = (text, times) }

        init(stringLiteral text: String) { self.text = text }
    }

    static let launch = ["willFinishLaunching inactive", "didFinishLaunching inactive", "didBecomeActive active"]
    static let resign = ["willResignActive active"]
    static let enter = ["didEnterBackground background"]
    static let back = ["willEnterForeground background", "didBecomeActive active"]
    static let terminate = ["willTerminate background", "late begin refused"]
    static let stopped = resign + enter + terminate

    static let all: [LifeRow] = starting + presenting + inBackground + ending

    static let starting: [LifeRow] = [
        LifeRow(name: "not running, launch", arguments: [], stop: "state active", callbacks: launch + stopped),
        LifeRow(
            name: "not running, launch, and terminate before anything came of it",
            arguments: ["--stop-at-start"],
            stop: nil,
            callbacks: launch.prefix(2) + enter + terminate
        ),
        LifeRow(
            name: "launching, deadline",
            arguments: ["--hang", "didFinishLaunching=60000", "--launch-limit", "300"],
            stop: nil,
            callbacks: Array(launch.prefix(2)),
            end: .signalled(SIGKILL),
            report: "0x8badf00d: the launch took too long",
            keepsArchive: false
        ),
        LifeRow(
            name: "launching, exit",
            arguments: ["--crash-at-launch"],
            stop: nil,
            callbacks: Array(launch.prefix(1)),
            end: .signalled(SIGABRT),
            keepsArchive: false
        ),
        LifeRow(
            name: "launching, terminate",
            arguments: ["--hang", "didFinishLaunching=500"],
            stop: "didFinishLaunching",
            callbacks: launch.prefix(2) + enter + terminate
        ),
    ]

    static let presenting: [LifeRow] = [
        LifeRow(
            name: "active, deactivate; inactive, terminate",
            arguments: ["--inactive"],
            stop: "willResignActive active\nstate inactive",
            callbacks: launch + stopped
        ),
        LifeRow(
            name: "active, deactivate, too slow",
            arguments: ["--inactive", "--hang", "willResignActive=60000", "--callback-limit", "300"],
            stop: nil,
            callbacks: launch + resign,
            end: .signalled(SIGKILL),
            report: "0x8badf00d: applicationWillResignActive took too long"
        ),
        LifeRow(
            name: "inactive, activate",
            arguments: ["--inactive", "--foreground"],
            stop: Moment("didBecomeActive active", times: 2),
            callbacks: launch + resign + ["didBecomeActive active"] + stopped
        ),
        LifeRow(
            name: "active, enter background, by way of inactive; background, terminate",
            arguments: ["--background"],
            stop: "state background",
            callbacks: launch + stopped
        ),
        LifeRow(
            name: "inactive, enter background",
            arguments: ["--inactive", "--background"],
            stop: "state background",
            callbacks: launch + stopped
        ),
        LifeRow(
            name: "inactive, enter background, too slow",
            arguments: ["--background", "--hang", "didEnterBackground=60000", "--background-limit", "300"],
            stop: nil,
            callbacks: launch + resign + enter,
            end: .signalled(SIGKILL),
            report: "0x8badf00d: applicationDidEnterBackground took too long"
        ),
        LifeRow(
            name: "background, enter foreground",
            arguments: ["--background", "--foreground"],
            stop: Moment("didBecomeActive active", times: 2),
            callbacks: launch + resign + enter + back + stopped
        ),
    ]

    static let inBackground: [LifeRow] = [
        LifeRow(
            name: "background, nothing open, of one that ends instead of being suspended",
            arguments: ["--background", "--exits-on-suspend"],
            stop: nil,
            callbacks: launch + stopped
        ),
        LifeRow(
            name: "background, budget spent, tasks end",
            arguments: ["--background", "--task", "a=-1", "--task", "b=-1", "--budget", "200"],
            stop: "expired b",
            callbacks: launch + resign + enter + ["expired a", "expired b"] + terminate
        ),
        LifeRow(
            name: "background, budget spent, a task does not end",
            arguments: [
                "--background", "--task", "a=-1", "--budget", "200", "--expiry-limit", "300", "--ignore-expiry",
            ],
            stop: nil,
            callbacks: launch + resign + enter + ["expired a"],
            end: .signalled(SIGKILL),
            report: "0x2182bad2: background tasks were open after their expiry; open tasks: a"
        ),
        LifeRow(
            name: "expiring, enter foreground",
            arguments: [
                "--background", "--task", "a=-1", "--budget", "200", "--expiry-limit", "300", "--ignore-expiry",
                "--return-at-expiry", "--grace", "0",
            ],
            stop: Moment("didBecomeActive active", times: 2),
            callbacks: launch + resign + enter + ["expired a"] + back + resign + enter,
            end: .signalled(SIGKILL),
            report: "open tasks: a"
        ),
    ]

    static let ending: [LifeRow] = [
        LifeRow(
            name: "running, terminate, tasks that end within the grace",
            arguments: ["--task", "a=300"],
            stop: "state active",
            callbacks: launch + resign + enter + ["done a"] + terminate
        ),
        LifeRow(
            name: "running, terminate, tasks beyond the grace",
            arguments: ["--task", "a=-1", "--grace", "200"],
            stop: "state active",
            callbacks: launch + resign + enter + ["expired a"] + terminate
        ),
        LifeRow(
            name: "terminating, too slow",
            arguments: ["--hang", "willTerminate=60000", "--termination-limit", "300"],
            stop: "state active",
            callbacks: launch + resign + enter + ["willTerminate background"],
            end: .signalled(SIGKILL),
            report: "0x8badf00d: applicationWillTerminate took too long"
        ),
    ]
}
