import EideticCodecs
import Glibc

/// The search for the first frame of an animation in bytes that arrive.
struct FrameSearch: Sendable {
    /// The result of a search in the bytes that have arrived since the last one.
    enum Finding {
        case nothing
        /// The first frame of what may be an animation.
        case image
        /// The first frame of an animation, perhaps.
        case animation
    }

    private enum Method {
        /// The format is not known yet.
        case undetermined
        case scanning(FrameScanner)
        /// The frame is found by attempts to decode it.
        case attempting
        /// The frame was found; the animation gets all further bytes.
        case following
        /// The bytes are no animation, or do not continue the one that was reported.
        case ended
    }

    /// The range of the distance between two attempts to decode the first frame.
    private static let attemptSteps = 1_024...65_536

    /// The number of bytes that tell whether a file is an animation.
    private static let headerByteCount = 4_096

    private var method: Method
    /// The number of bytes in which frames were looked for.
    private var searchedByteCount = 0
    /// The number of bytes from which on the first frame is decoded in the next attempt.
    private var attemptThreshold = 0

    /// Begins a search in the bytes of one response; with `false` there is nothing to find.
    init(findsAnimations: Bool) { method = findsAnimations ? .undetermined : .ended }

    /// A Boolean value indicating whether the animation that was found gets further bytes.
    var isFollowing: Bool { if case .following = method { true } else { false } }

    /// The number of bytes from which on there is something to look for.
    var nextByteCount: Int {
        switch method {
        case .ended: .max
        case .attempting: attemptThreshold
        case .undetermined, .scanning, .following: searchedByteCount + 1
        }
    }

    /// Looks for the first frame in the bytes that have arrived since the last look.
    mutating func seek(in data: PartialData, isSandboxed: Bool) -> Finding {
        searchedByteCount = max(searchedByteCount, data.count)
        if case .undetermined = method { method = Self.method(for: data, isSandboxed: isSandboxed) }
        switch method {
        case .undetermined, .following, .ended: return .nothing
        case .attempting: return .animation
        case .scanning(let scanner):
            searchedByteCount = data.withUnsafeBytes { bytes in
                scanner.update(bytes)
                return bytes.count
            }
            if scanner.isStill { method = .ended }
            return scanner.hasFrame ? .animation : scanner.findsImage() ? .image : .nothing
        }
    }

    /// Records that the animation was found, and has this many bytes.
    mutating func follow(byteCount: Int) { (method, searchedByteCount) = (.following, byteCount) }

    /// Records that the first frame could not be decoded from this many bytes.
    mutating func attemptFailed(byteCount: Int) {
        attemptThreshold =
            byteCount + min(max(byteCount / 8, Self.attemptSteps.lowerBound), Self.attemptSteps.upperBound)
        // What a scanner has found does not become an animation by more bytes.
        if case .scanning = method { end() }
    }

    mutating func end() { method = .ended }

    /// Returns the way to find frames in the bytes, as far as they tell their format.
    private static func method(for data: PartialData, isSandboxed: Bool) -> Method {
        switch ImageFormat.detect(in: data.signature) {
        case .needsMoreBytes: return .undetermined
        case .unknown: return .ended
        case .format(let format):
            if let scanner = FrameScanner(format) { return .scanning(scanner) }
            // A library must not read what the sandbox is for.
            guard !isSandboxed else { return .ended }
            // Others tell it within their first kilobytes.
            guard let isAnimation = AnimationDecoder.isAnimation(data.prefix(headerByteCount)) else {
                return data.count < headerByteCount ? .undetermined : .ended
            }
            return isAnimation ? .attempting : .ended
        }
    }
}

/// An animation whose first frame was reported while its bytes arrive.
struct ArrivingAnimation: Sendable {
    /// The image that was reported; `nil` before the first frame.
    private(set) var image: Image?
    private(set) var byteCount = 0
    /// The bytes of which the animation has the first ones.
    private var data: PartialData?
    /// A Boolean value indicating whether more bytes may be appended.
    var isOpen = true

    /// Begins with the image of the first bytes.
    mutating func begin(_ image: Image, byteCount: Int, of data: PartialData) {
        self.image = image
        self.byteCount = byteCount
        self.data = data
    }

    /// Appends the bytes that have arrived since.
    mutating func append(from data: PartialData) {
        let bytes = data.bytes(from: byteCount)
        byteCount += bytes.count
        image?.streamed?.append(bytes, isComplete: false)
    }

    /// Returns the bytes that it holds, which are freed outside of the lock.
    mutating func releaseData() -> PartialData? { data.take() }

    /// Ends the animation: with the rest of its bytes, or after an error.
    func complete(with result: Result<EncodedImage, EideticError>) -> Image? {
        guard let image, let animation = image.streamed else { return nil }
        switch result {
        case .success(let encodedImage):
            let bytes = encodedImage.bytes
            // A decryptor or a second server may have made other bytes of it.
            guard let data, Self.hasSameBeginning(data.snapshot, as: bytes, count: byteCount) else {
                animation.end(
                    after: EideticError(.corrupt, message: "other bytes have replaced those of the animation")
                )
                return nil
            }
            animation.append(Array(bytes.dropFirst(byteCount)), isComplete: true)
            return image
        case .failure(let error):
            if let data { animation.append(data.bytes(from: byteCount), isComplete: false) }
            animation.end(after: error)
            return nil
        }
    }

    private static func hasSameBeginning(_ first: [UInt8], as second: [UInt8], count: Int) -> Bool {
        guard first.count >= count, second.count >= count else { return false }
        return first.withUnsafeBytes { first in
            second.withUnsafeBytes { second in
                guard let first = first.baseAddress, let second = second.baseAddress else { return true }
                return memcmp(first, second, count) == 0
            }
        }
    }
}
