import EideticBackground
import Glibc

/// An alarm that rings after five minutes, whichever way the application is sent away, and counts the minutes.
///
/// Run it as `Alarm [MINUTES [SECONDS]]`; the second number is the length of a minute, for tests. After Ctrl-C, Ctrl-Z,
/// the end of its terminal or a stop of its service, it enters the background and rings on time; then it ends, or stops
/// after Ctrl-Z. A second Ctrl-C ends it at once.
@main
final class Alarm: ApplicationDelegate {
    private let minutes: Double
    private let minute: Double

    static func main() async throws {
        // A terminal that was closed must not end the alarm at its next line.
        signal(SIGPIPE, SIG_IGN)
        let numbers = CommandLine.arguments.dropFirst().compactMap(Double.init)
        let alarm = Alarm(minutes: numbers.first ?? 5, minute: numbers.dropFirst().first ?? 60)
        try Application.shared.start(alarm.configuration, delegate: alarm)
        await Application.shared.waitUntilTerminated()
    }

    init(minutes: Double, minute: Double) { (self.minutes, self.minute) = (minutes, minute) }

    /// A stop waits for the alarm, with a little to spare, instead of the usual 25 s, and 5 s after Ctrl-Z.
    private var configuration: Application.Configuration {
        var configuration = Application.Configuration()
        configuration.terminationGracePeriod = .seconds(minutes * minute + 10)
        configuration.suspensionGracePeriod = .seconds(minutes * minute + 10)
        return configuration
    }

    func application(_ application: Application, didFinishLaunchingWith options: LaunchOptions) {
        say("The alarm rings in \(minutes) minutes.")
        let work = Task { await ringInTime() }
        // Opened at once: when a request to stop arrives, it may be too late.
        let task = application.beginBackgroundTask(withName: "alarm") { work.cancel() }
        Task {
            await work.value
            application.endBackgroundTask(task)
        }
    }

    /// Returns at once: an application that blocks in this callback is killed after 5 s.
    func applicationDidEnterBackground(_ application: Application) {
        say("In the background; the alarm is still set.")
    }

    private func ringInTime() async {
        let (clock, start) = (ContinuousClock(), ContinuousClock.now)
        do {
            for left in stride(from: minutes, to: 0, by: -1) {
                if left < minutes { say("\(left) minutes left\(backgroundTime).") }
                let next = max(0, left - 1)
                try await clock.sleep(until: start + .seconds((minutes - next) * minute), tolerance: .zero)
            }
            say("\u{7}Ring!")
        } catch {
            say("Background time expired before the alarm.")
        }
    }

    /// The background time, where it has an end.
    private var backgroundTime: String {
        let remaining = Application.shared.backgroundTimeRemaining
        return remaining < .seconds(86_400) ? ", background time for \(remaining.components.seconds) s" : ""
    }

    private func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}
