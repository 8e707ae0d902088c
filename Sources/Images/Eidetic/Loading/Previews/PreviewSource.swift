import EideticCore

/// The bytes of which previews are made, one response after another, and the turn of the next preview.
struct PreviewSource {
    /// Makes a preview of ever more bytes of one response; `nil` if they are too few.
    typealias Decode = @Sendable ([UInt8]) throws(EideticError) -> Image?

    private static let minimumStep = 256

    /// Makes a decoder for the bytes of one response; `nil` once the generator is stopped.
    private var makeDecode: (@Sendable () -> Decode)?
    /// The bytes being decoded; if the first of several servers fails, the next one's replace them.
    private var data: PartialData?
    /// The bytes that were received last, while others may still be decoded.
    private var latest: PartialData?
    /// The decoder of `data`, which holds memory from one preview to the next.
    private(set) var decode: Decode?
    private var isBusy = false
    /// The number of bytes from which on the next preview is made.
    private(set) var nextByteCount = minimumStep

    init(makeDecode: @escaping @Sendable () -> Decode) { self.makeDecode = makeDecode }

    var isStopped: Bool { makeDecode == nil }

    /// Records what has arrived; returns `false` while other bytes are being decoded, and once it is stopped.
    mutating func receive(_ data: PartialData) -> Bool {
        guard !isStopped else { return false }
        latest = data
        return !isBusy
    }

    /// Begins again if the bytes are those of another response than before.
    ///
    /// - Returns: A Boolean value indicating whether they are, and the decoder that was replaced.
    mutating func restart(with data: PartialData) -> (isOther: Bool, replaced: Decode?) {
        guard self.data !== data else { return (false, nil) }
        let replaced = decode
        self.data = data
        decode = makeDecode?()
        nextByteCount = Self.minimumStep
        return (true, replaced)
    }

    /// Begins a turn.
    mutating func begin() { isBusy = true }

    /// Ends a turn, and returns what has arrived meanwhile.
    mutating func end() -> PartialData? {
        isBusy = false
        return latest
    }

    /// Returns whether a preview of this many bytes is due, and sets the number for the next one.
    ///
    /// Each has at least half as many bytes again as the one before, so that a slow connection does not cause too many.
    mutating func isDue(byteCount: Int, isRequired: Bool) -> Bool {
        guard byteCount >= nextByteCount || isRequired else { return false }
        nextByteCount = byteCount + max(Self.minimumStep, byteCount / 2)
        return true
    }

    /// Ends all turns, and returns what it holds, which is freed outside of the lock.
    mutating func stop() -> (Decode?, PartialData?, PartialData?) {
        defer { (makeDecode, decode, data, latest) = (nil, nil, nil, nil) }
        return (decode, data, latest)
    }
}
