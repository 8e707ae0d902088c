import EideticCore
import EideticStore
import Foundation

extension Suite {
    /// A hit in the memory cache, the answer that a scrolling view waits for.
    static let memoryHit = Suite("memory-hit", "a hit in the memory cache, against Foundation's NSCache") { bench in
        let pictures = CachedPictures(count: 4_096)
        await bench.compare(
            Case("1 thread, 4096 pictures", .nanoseconds, goal: .ratio(0.1)),
            operations: pictures.order.count,
            with: "NSCache",
            ours: { pictures.hitOurs() },
            theirs: { pictures.hitTheirs() }
        )
        await bench.compare(
            Case("2 threads, 4096 pictures", .nanoseconds, goal: .ratio(0.1)),
            operations: 2 * pictures.order.count,
            with: "NSCache",
            ours: { await twice { pictures.hitOurs() } },
            theirs: { await twice { pictures.hitTheirs() } }
        )
    }
}

/// The same values in both caches, and a random order in which to ask for them.
private final class CachedPictures: Sendable {
    private final class Picture: Sendable {}

    // Safe to share: NSCache is documented as safe on all threads.
    private nonisolated(unsafe) let theirs = NSCache<NSString, Picture>()
    private nonisolated(unsafe) let names: [NSString]
    private let ours = MemoryCache<Picture>(costLimit: .gibibytes(1))
    private let keys: [CacheKey]
    let order: [Int]

    init(count: Int) {
        let texts = (0..<count).map {
            "https://pictures.example.org/albums/2026/holiday/large/IMG_\(1_000_000 + $0).jpeg"
        }
        names = texts.map { NSString(string: $0) }
        keys = texts.map { CacheKey($0) }
        var generator = SystemRandomNumberGenerator()
        order = (0..<20_000).map { _ in Int.random(in: 0..<count, using: &generator) }
        for (key, name) in zip(keys, names) {
            let picture = Picture()
            ours.insert(picture, for: key, cost: .kibibytes(64))
            theirs.setObject(picture, forKey: name, cost: 64 << 10)
        }
    }

    func hitOurs() {
        for index in order {
            guard let picture = ours.value(for: keys[index]) else { preconditionFailure("a picture is missing") }
            use(picture)
        }
    }

    func hitTheirs() {
        for index in order {
            guard let picture = theirs.object(forKey: names[index]) else { preconditionFailure("a picture is missing") }
            use(picture)
        }
    }
}

/// Runs something on two threads at once.
private func twice(_ body: @escaping @Sendable () -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<2 { group.addTask(operation: body) }
    }
}
