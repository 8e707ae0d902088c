public import EideticCore
internal import Synchronization

/// How a cache finds a value again that it has let go, while somebody else still holds it.
public struct InUseTracking<Value: Sendable>: Sendable {
    /// Finds a value as long as it is held.
    public typealias Finder = @Sendable () -> Value?

    let weaken: @Sendable (Value) -> Finder

    /// Creates tracking by a function that makes a weak reference of a value.
    ///
    /// It, and the finder that it gives, are called with a lock of the cache held: they must not call the cache.
    public init(weaken: @escaping @Sendable (Value) -> Finder) { self.weaken = weaken }
}

extension InUseTracking where Value: AnyObject {
    /// Tracks objects.
    public static var objects: Self {
        Self { object in { [weak object] in object } }
    }
}

extension InUseTracking where Value == Image {
    /// Tracks pictures by their pixels: a picture is in use as long as the pixels of all its frames are.
    public static var images: Self {
        Self { image in
            // Nobody shows what was not decoded.
            guard image.isDecoded else { return { nil } }
            let frames = image.frames.map { frame in WeakFrame(frame) }
            let (loopCount, format, sourceSize) = (image.loopCount, image.format, image.sourceSize)
            let (scale, isPartial) = (image.scale, image.isPartial)
            let (encodedSize, encodedChecksum) = (image.encodedSize, image.encodedChecksum)
            return {
                let found = frames.compactMap(\.frame)
                guard found.count == frames.count else { return nil }
                var image = Image(
                    frames: found,
                    loopCount: loopCount,
                    format: format,
                    sourceSize: sourceSize,
                    scale: scale,
                    isPartial: isPartial
                )
                (image.encodedSize, image.encodedChecksum) = (encodedSize, encodedChecksum)
                return image
            }
        }
    }
}

/// A frame whose pixels are held by others.
private struct WeakFrame: Sendable {
    private let pixels: @Sendable () -> PixelBuffer?
    private let duration: Duration

    init(_ frame: Image.Frame) {
        let buffer = frame.pixels
        pixels = { [weak buffer] in buffer }
        duration = frame.duration
    }

    var frame: Image.Frame? { pixels().map { Image.Frame(pixels: $0, duration: duration) } }
}

/// Values that a memory cache let go, as long as somebody else holds them, which cost the cache nothing.
@usableFromInline
final class InUseMap<Value: Sendable>: Sendable {
    /// A value that the cache does not hold.
    struct Entry: Sendable {
        let record: MemoryLedger.Record
        let find: InUseTracking<Value>.Finder
    }

    private struct State: Sendable {
        var entries: [CacheKey: Entry] = [:]
        /// The number of entries at which those are dropped that nobody holds any more.
        var sweepsAt = 64
    }

    private let tracking: InUseTracking<Value>
    private let state = Guarded(State())
    private let count = Atomic(0)
    private let returns = Atomic(0)

    init(_ tracking: InUseTracking<Value>) { self.tracking = tracking }

    /// Whether nothing is tracked.
    @usableFromInline var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// How many values the cache has taken back so far.
    @usableFromInline var returned: Int { returns.load(ordering: .acquiring) }

    /// Stops to track a value that the cache holds again, and has put into its table before.
    func giveBack(_ key: CacheKey) {
        returns.add(1, ordering: .releasing)
        remove(key)
    }

    /// Tracks a value that the cache lets go.
    ///
    /// Gives values that it found while it dropped others, to be released when no lock is held.
    func insert(_ value: Value, _ record: MemoryLedger.Record) -> [Value] {
        let entry = Entry(record: record, find: tracking.weaken(value))
        return state.withLock { state in
            state.entries[record.key] = entry
            let found = state.entries.count >= state.sweepsAt ? Self.sweep(&state) : []
            count.store(state.entries.count, ordering: .releasing)
            return found
        }
    }

    /// What is tracked for `key`.
    func entry(of key: CacheKey) -> Entry? { state.withLock { $0.entries[key] } }

    /// Stops to track the value of `key`.
    @usableFromInline
    func remove(_ key: CacheKey) {
        guard !isEmpty else { return }
        state.withLock { state in
            state.entries[key] = nil
            count.store(state.entries.count, ordering: .releasing)
        }
    }

    /// Stops to track all values.
    func removeAll() {
        state.withLock { state in
            state.entries = [:]
            count.store(0, ordering: .releasing)
        }
    }

    /// Drops what nobody holds, and waits until there are twice as many: constant cost an entry.
    private static func sweep(_ state: inout State) -> [Value] {
        var found: [Value] = []
        state.entries = state.entries.filter { _, entry in
            guard let value = entry.find() else { return false }
            found.append(value)
            return true
        }
        state.sweepsAt = max(64, state.entries.count * 2)
        return found
    }
}
