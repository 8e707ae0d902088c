import Eidetic
import EideticCore
import EideticStore
import EideticTestSupport
import EideticTransfer
import Glibc

/// An application that loads one image, and hands it over when its background time expires at once.
struct ImageProbe {
    let root: String
    let url: String

    /// An environment whose background time expires when a task is opened.
    private struct ExpiringEnvironment: ApplicationEnvironment {
        var phases: AsyncStream<ApplicationPhase> { AsyncStream { $0.finish() } }
        var memoryPressure: AsyncStream<MemoryPressure> { AsyncStream { $0.finish() } }

        func beginBackgroundTask(
            named name: String,
            expirationHandler: @escaping @Sendable () -> Void
        ) -> BackgroundTaskIdentifier {
            Task.detached {
                try? await Task.sleep(for: .milliseconds(200))
                expirationHandler()
            }
            return BackgroundTaskIdentifier(rawValue: 1)
        }

        func endBackgroundTask(_ identifier: BackgroundTaskIdentifier) {}
    }

    func run(_ session: BackgroundURLSession.Configuration, hands: Bool) async throws {
        let disk = try DiskCache(.init(directory: "\(root)/cache"), environment: ForegroundEnvironment())
        var configuration = ImagePipeline.Configuration(diskCache: disk)
        configuration.transfers = try BackgroundDownloads(configuration: session)
        configuration.environment = hands ? ExpiringEnvironment() : ForegroundEnvironment()
        let pipeline = ImagePipeline(configuration)
        let request = ImageRequest(url, options: .continueInBackground)
        guard hands else { return try await show(request, pipeline: pipeline, disk: disk) }
        do throws(EideticError) {
            _ = try await pipeline.image(for: request)
        } catch {
            print("\(error.code)")
            fflush(nil)
            // Until it is killed.
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
    }

    /// Waits until the transfer has come, and loads the image.
    private func show(
        _ request: ImageRequest,
        pipeline: ImagePipeline,
        disk: DiskCache
    ) async throws {
        try await eventually("the transferred image") { try await disk.contains(url) }
        let response = try await pipeline.response(for: request)
        print("\(response.image.size.width)x\(response.image.size.height) from \(response.source)")
        fflush(nil)
    }
}
