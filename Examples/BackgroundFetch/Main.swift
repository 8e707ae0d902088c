import Eidetic
import EideticBackground
import Glibc

/// Fetches an image in the background, shows it, and raises the badge.
///
/// Run it as `BackgroundFetch URL` under `eideticd`, or let `script/demo --background` do so. Woken in the background,
/// it loads the image through Eidetic, draws it in its terminal or its window, raises the number at its icon, and ends
/// with new data; the supervisor then suspends it again.
@main
final class BackgroundFetch: ApplicationDelegate {
    private let url: String
    private let screen: any Screen
    private var badge = 0

    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        guard let url = words.first else {
            print("usage: BackgroundFetch URL")
            exit(64)
        }
        let screen = makeScreen()
        let application = BackgroundFetch(url: url, screen: screen)
        do {
            try Application.shared.start(application.configuration, delegate: application)
        } catch {
            print("\(error)")
            exit(1)
        }
        screen.run()
    }

    init(url: String, screen: any Screen) { (self.url, self.screen) = (url, screen) }

    private var configuration: Application.Configuration {
        var configuration = Application.Configuration()
        configuration.followsTerminal = false
        return configuration
    }

    func application(_ application: Application, didFinishLaunchingWith options: LaunchOptions) {
        // The interface is made in any case; a launch in the background shows no window.
        if !options.isInBackground { screen.present() }
        say(options.isInBackground ? "launched in the background" : "launched")
        application.setMinimumBackgroundFetchInterval(.minimum)
    }

    func applicationDidBecomeActive(_ application: Application) {
        screen.present()
        // The user sees what is new.
        badge = 0
        UserNotificationCenter.shared.setBadge(badge)
    }

    func applicationDidEnterBackground(_ application: Application) { say("entered the background") }

    func application(
        _ application: Application,
        performWake wake: BackgroundWake
    ) async -> BackgroundWake.Result {
        say("woken in the background to fetch")
        return await fetch()
    }

    private func fetch() async -> BackgroundWake.Result {
        do {
            let request = ImageRequest(url, options: .refreshCached)
            let response = try await ImagePipeline.shared.response(for: request)
            say("the image has arrived: \(response.image.sourceSize), from \(response.source)")
            await screen.show(response.image, of: ImageRequest(url))
            badge += 1
            UserNotificationCenter.shared.setBadge(badge)
            say("the badge is \(badge); ends with new data")
            return .newData
        } catch {
            say("the fetch failed: \(error.message)")
            return .failed
        }
    }

    private func say(_ line: String) {
        print("BackgroundFetch: \(line)")
        fflush(nil)
    }
}

/// The place where the image is shown: a terminal or a window.
@MainActor
protocol Screen {
    /// Shows the window, if there is one.
    func present()
    /// Shows an image; returns when it is shown, so that the snapshot of the window has it.
    func show(_ image: Image, of request: ImageRequest) async
    /// Runs until the program ends.
    func run()
}
