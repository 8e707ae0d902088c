import EideticCore
import Glibc

/// An animation whose first frame was reported while its bytes arrive.
struct ArrivingAnimation: Sendable {
    /// The image that was reported; `nil` before the first frame.
    private(set) var image: Image?
    /// The number of bytes that the animation has.
    private(set) var byteCount = 0
    /// The bytes of which the animation has the first ones.
    private var data: PartialData?
    /// A Boolean value indicating whether all bytes have arrived, or no more will.
    private var isFinished = false

    /// A Boolean value indicating whether the animation may get bytes.
    var isOpen: Bool { !isFinished }

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

    /// Records that there will be no more bytes by `append`.
    mutating func finish() { isFinished = true }

    /// Returns the bytes that it holds, which are freed outside of the lock.
    mutating func releaseData() -> PartialData? {
        defer { data = nil }
        return data
    }

    /// Ends the animation: with the rest of its bytes, or after an error.
    ///
    /// - Returns: The image, if it has all bytes and goes on.
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
