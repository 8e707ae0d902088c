import EideticBackground
import Glibc

/// An alarm that rings after five minutes, also when the application has left the foreground by then.
///
/// `Alarm [MINUTES [SECONDS]]`, where the second number is what a minute lasts, for those who cannot wait. Press Ctrl-C,
/// or stop it as a service: it goes to the background, rings when it is time, and ends.
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
        // Taken when the work begins, not when the application is sent away: that may be too late.
        Task { try await application.withBackgroundTask(named: "alarm") { try await self.ringInTime() } }
    }

    /// Returns at once: whoever sleeps in a callback is ended after 5 s.
    func applicationDidEnterBackground(_ application: Application) {
        print("In the background; the alarm is still set.")
        fflush(nil)
    }

    private func ringInTime() async throws {
        do {
            try await Task.sleep(for: .seconds(minutes * minute))
            print("\u{7}Ring!")
        } catch {
            print("The time in the background is over before the alarm.")
        }
        fflush(nil)
    }
}
