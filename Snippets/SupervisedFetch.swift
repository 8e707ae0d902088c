import EideticBackground

/// An application that is suspended in the background, and woken to fetch.
@MainActor
final class Counter: ApplicationDelegate {
    private var count = 0

    func application(_ application: Application, didFinishLaunchingWith options: LaunchOptions) {
        application.setMinimumBackgroundFetchInterval(.minimum)
    }

    func application(_ application: Application, performWake wake: BackgroundWake) async -> BackgroundWake.Result {
        count += 1  // the work, which has 30 s
        return .newData
    }
}

let delegate = Counter()
var configuration = Application.Configuration()
configuration.identifier = "org.example.Counter"
try Application.shared.start(configuration, delegate: delegate)
await Application.shared.waitUntilTerminated()
