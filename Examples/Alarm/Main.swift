import EideticBackground
import Glibc

/// An alarm that rings after five minutes, even if the application has left the foreground.
///
/// Run it as `Alarm [MINUTES [SECONDS]]`; the second number is the length of a minute, for tests. After Ctrl-C, or when
/// its service is stopped, it enters the background, rings on time, and ends.
@main
final class Alarm: ApplicationDelegate {
    private let minutes: Double
    private let minute: Double

    static func main() async throws {
        let numbers = CommandLine.arguments.dropFirst().compactMap(Double.init)
        try Application.shared.start(
            delegate: Alarm(minutes: numbers.first ?? 5, minute: numbers.dropFirst().first ?? 60)
        )
        await Application.shared.waitUntilTerminated()
    }

    init(minutes: Double, minute: Double) { (self.minutes, self.minute) = (minutes, minute) }

    func application(_ application: Application, didFinishLaunchingWith archive: [UInt8]?) {
        print("The alarm rings in \(minutes) minutes.")
        fflush(nil)
        // Opened at the start of the work; at the entry into the background it may be too late.
        Task { try await application.withBackgroundTask(named: "alarm") { try await self.ringInTime() } }
    }

    /// Returns at once: an application that blocks in this callback is killed after 5 s.
    func applicationDidEnterBackground(_ application: Application) {
        print("In the background; the alarm is still set.")
        fflush(nil)
    }

    private func ringInTime() async throws {
        do {
            try await Task.sleep(for: .seconds(minutes * minute))
            print("\u{7}Ring!")
        } catch {
            print("Background time expired before the alarm.")
        }
        fflush(nil)
    }
}
