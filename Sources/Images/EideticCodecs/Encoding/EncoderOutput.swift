import EideticCore
import Glibc

/// The output of a C encoder: bytes allocated by `malloc`, or an error message.
struct EncoderOutput: ~Copyable {
    var base: UnsafeMutablePointer<UInt8>?
    var count = 0
    var message = [CChar](repeating: 0, count: 256)

    deinit { free(base) }

    var array: [UInt8] { Array(UnsafeBufferPointer(start: base, count: count)) }

    /// Returns an error with the encoder's message.
    func error(format: StaticString, isOutOfMemory: Bool) -> EideticError {
        let text = message.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        return EideticError(isOutOfMemory ? .outOfMemory : .encodingFailed, message: "\(format): \(text)")
    }
}
