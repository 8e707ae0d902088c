import Eidetic
import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Image cache: threads", .timeLimit(.minutes(2)))
struct ImageCacheThreadTests {
    @MainActor
    @Test("C14 no function of a cache or pipeline whose directory is not open yet opens it on the main thread")
    func deferredOpening() async throws {
        let directory = try TemporaryDirectory(named: "deferred"), observer = MainThreadObserver()
        let settings = DiskCache.Configuration(directory: directory.path(of: "cache"))
        let png = try TestImage.png(width: 5, height: 4), image = try TestImage.image()
        let resource = ImageRequest.Resource.provider(name: "chart") { () throws(EideticError) in png }
        let uses: [@MainActor (ImagePipeline) async throws -> Void] = [
            { try await $0.cache.insert(bytes: png, for: "a") },
            { try await $0.cache.insert(image, for: "b") },
            { _ = try await $0.cache.bytes(for: "a") },
            { _ = try await $0.cache.lookup("a") },
            { _ = try await $0.cache.contains("b") },
            { _ = try await $0.image(for: ImageRequest(resource, cachePolicy: .afterStorage)) },
            { _ = $0.cachedImage(for: ImageRequest(resource)) },
            { $0.cache.disk?.setHooks(.init()) },
            { try await $0.cache.remove("a") },
            { try await $0.cache.removeAll() },
        ]
        for use in uses {
            let disk = try DiskCache(deferred: settings, fileSystem: FileSystem(observer: observer))
            try await use(ImagePipeline(.init(diskCache: disk)))
        }
        #expect(observer.callCount > 20)
        #expect(observer.callsOnMainThread == [])
    }
}

/// An observer that records the system calls of the main thread.
private final class MainThreadObserver: SystemCallObserver {
    private let mainThread: UInt
    private let calls = Guarded<(count: Int, onMainThread: [String])>((0, []))

    @MainActor
    init() { mainThread = UInt(pthread_self()) }

    var callCount: Int { calls.withLock { $0.count } }
    var callsOnMainThread: [String] { calls.withLock { $0.onMainThread } }

    func willPerform(_ call: SystemCall, path: String?) -> Int32? {
        let isMainThread = UInt(pthread_self()) == mainThread
        calls.withLock { calls in
            calls.count += 1
            if isMainThread { calls.onMainThread.append("\(call) \(path ?? "")") }
        }
        return nil
    }
}
