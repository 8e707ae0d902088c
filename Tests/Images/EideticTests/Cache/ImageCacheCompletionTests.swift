import Eidetic
import EideticTestSupport
import Glibc
import Testing

/// The functions of a cache with completion handlers.
@Suite("Image cache: completion", .timeLimit(.minutes(2)))
struct ImageCacheCompletionTests {
    /// Calls a function with a handler; fails if the handler is called twice, or on the thread that called.
    @MainActor
    private func result<Value: Sendable>(
        of function: (@escaping ImageCache.Completion<Value>) -> Void
    ) async throws -> Value {
        let thread = UInt(pthread_self())
        return try await withCheckedThrowingContinuation { continuation in
            function { result in
                #expect(UInt(pthread_self()) != thread)
                continuation.resume(with: result)
            }
        }
    }

    @MainActor
    @Test("C08 exists, path, bytes, store, remove and clear call their handlers once, with the outcome")
    func allForms() async throws {
        let fixture = try ImageCacheFixture(), cache = fixture.cache, png = try TestImage.png(width: 5, height: 4)
        let image = try TestImage.image()
        try await result { cache.insert(image, bytes: png, for: "a", completion: $0) }
        try await result { cache.insert(bytes: png, for: "b", completion: $0) }
        #expect(try await result { cache.contains("a", completion: $0) })
        #expect(try await result { cache.tiers(containing: "a", completion: $0) } == .all)
        #expect(try await result { cache.tiers(containing: "b", completion: $0) } == .disk)
        #expect(try await result { cache.path(for: "a", completion: $0) } == cache.path(for: "a"))
        #expect(try await result { cache.bytes(for: "b", completion: $0) } == png)
        #expect(try await result { cache.metadata(for: "b", completion: $0) } != nil)
        try await result { cache.remove("a", from: .memory, completion: $0) }
        #expect(try await result { cache.tiers(containing: "a", completion: $0) } == .disk)
        try await result { cache.remove("a", from: .disk, completion: $0) }
        #expect(try await !result { cache.contains("a", completion: $0) })
        try await result { cache.insert(image, for: "c", in: .memory, completion: $0) }
        try await result { cache.removeAll(from: .memory, completion: $0) }
        #expect(cache.memoryCount == 0)
        try await result { cache.removeAll(from: .disk, completion: $0) }
        #expect(cache.blocking.diskUsage.entryCount == 0)
    }

    @MainActor
    @Test("C08 C06 errors reach the handler; what is removed from memory is gone when the call returns")
    func errors() async throws {
        let fixture = try ImageCacheFixture(), cache = fixture.cache
        let error = await #expect(throws: EideticError.self) {
            try await result { cache.insert(bytes: Array("<html></html>".utf8), for: "a", completion: $0) }
        }
        #expect(error?.code == .notAnImage)
        try cache.blocking.insert(try TestImage.image(), for: "a", in: .memory)
        fixture.plan.fail(.open, with: EIO, count: .max)
        let removal = Guarded<Result<Void, EideticError>?>(nil)
        cache.remove("a") { result in removal.withLock { $0 = result } }
        #expect(cache["a"] == nil)
        try await eventually("the removal has ended") { removal.withLock { $0 != nil } }
        #expect(removal.withLock { errorCode(thrownBy: $0) } == .fileFailure)
    }

    private func errorCode(thrownBy result: Result<Void, EideticError>?) -> EideticError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

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
            { _ = try await $0.cache.metadata(for: "b") },
            { _ = try await $0.cache.diskUsage },
            { _ = try await $0.image(for: ImageRequest(resource, options: .waitStoreCache)) },
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
