public import EideticCore
internal import Synchronization

/// How a cache finds a value again that it has let go, while somebody else still holds it.
public struct LiveValueTracking<Value: Sendable>: Sendable {
    /// Finds a value as long as it is held.
    public typealias WeakReference = @Sendable () -> Value?

    let makeWeakReference: @Sendable (Value) -> WeakReference

    /// Creates tracking by a function that makes a weak reference of a value.
    ///
    /// It, and the finder that it gives, are called with a lock of the cache held: they must not call the cache.
    public init(makeWeakReference: @escaping @Sendable (Value) -> WeakReference) {
        self.makeWeakReference = makeWeakReference
    }
}

extension LiveValueTracking where Value: AnyObject {
    /// Tracks objects.
    public static var objects: Self {
        Self { object in { [weak object] in object } }
    }
}

extension LiveValueTracking where Value == Image {
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
final class LiveValueMap<Value: Sendable>: Sendable {
    /// A value that the cache does not hold.
    struct Entry: Sendable {
        let record: MemoryLedger.Record
        let find: LiveValueTracking<Value>.WeakReference
    }

    private struct State: Sendable {
        var entries: [CacheKey: Entry] = [:]
        /// The number of entries at which those are dropped that nobody holds any more.
        var sweepThreshold = 64
    }

    private let tracking: LiveValueTracking<Value>
    private let state = Guarded(State())
    private let count = Atomic(0)
    private let revivals = Atomic(0)

    init(_ tracking: LiveValueTracking<Value>) { self.tracking = tracking }

    /// Whether nothing is tracked.
    @usableFromInline var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    /// How many values the cache has taken back so far.
    @usableFromInline var revivalCount: Int { revivals.load(ordering: .acquiring) }

    /// Stops to track a value that the cache holds again, and has put into its table before.
    func markRevived(_ key: CacheKey) {
        revivals.add(1, ordering: .releasing)
        remove(key)
    }

    /// Tracks a value that the cache lets go.
    ///
    /// Gives values that it found while it dropped others, to be released when no lock is held.
    func insert(_ value: Value, record: MemoryLedger.Record) -> [Value] {
        let entry = Entry(record: record, find: tracking.makeWeakReference(value))
        return state.withLock { state in
            state.entries[record.key] = entry
            let found = state.entries.count >= state.sweepThreshold ? Self.removeReleasedEntries(from: &state) : []
            count.store(state.entries.count, ordering: .releasing)
            return found
        }
    }

    /// What is tracked for `key`.
    func entry(for key: CacheKey) -> Entry? { state.withLock { $0.entries[key] } }

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
    private static func removeReleasedEntries(from state: inout State) -> [Value] {
        var found: [Value] = []
        state.entries = state.entries.filter { _, entry in
            guard let value = entry.find() else { return false }
            found.append(value)
            return true
        }
        state.sweepThreshold = max(64, state.entries.count * 2)
        return found
    }
}
