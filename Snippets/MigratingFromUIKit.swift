import Eidetic
import EideticBackground

// UIApplicationDelegate
@MainActor
final class Delegate: ApplicationDelegate {
    func applicationDidEnterBackground(_ application: Application) {
        // beginBackgroundTask(withName:expirationHandler:), endBackgroundTask(_:)
        let task = application.beginBackgroundTask(withName: "save") { print("the task has expired") }
        Task {
            print("saving, \(application.backgroundTimeRemaining) left")
            application.endBackgroundTask(task)
        }
    }

    func application(_ application: Application, didReceiveMemoryPressure level: MemoryPressure) {
        print("memory: \(level)")
    }
}

let delegate = Delegate()
try Application.shared.start(delegate: delegate)

// From the start on, all pipelines and caches open background tasks for what must finish, and free memory.
let request = ImageRequest("https://example.org/a.jpg", options: .continueInBackground)
print(try await ImagePipeline.shared.image(for: request).size)

// beginBackgroundTask and endBackgroundTask around an asynchronous operation
await Application.shared.withBackgroundTask(named: "upload") { print("uploading") }
