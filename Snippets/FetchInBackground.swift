import EideticBackground

// Wakes for fetches, and a notification if one has brought something.
@MainActor
final class News: ApplicationDelegate {
    func application(_ application: Application, didFinishLaunchingWith options: LaunchOptions) {
        application.setMinimumBackgroundFetchInterval(.minimum)
    }

    func application(_ application: Application, performWake wake: BackgroundWake) async -> BackgroundWake.Result {
        guard wake.kind == .fetch else { return .noData }
        do {
            // The fetch; at most 30 s, then the wake ends.
            try await UserNotificationCenter.shared.add(UserNotification(id: "news", title: "3 new articles"))
            return .newData
        } catch {
            return .failed
        }
    }
}

var configuration = Application.Configuration()
configuration.identifier = "org.example.News"
configuration.backgroundModes = [.fetch]
try Application.shared.start(configuration, delegate: News())
await Application.shared.waitUntilTerminated()
